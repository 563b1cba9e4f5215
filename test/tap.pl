# tap.pl [--comments] [--exec PROGRAM] [--jobs N] --counts FILE TEST...
#
# Runs tests that speak TAP, like prove, and writes "passed failed skipped" to
# FILE.  An assertion that was skipped, or is marked as to do, has not passed;
# a test that dies, or does not keep its plan, is one more failure.
use strict;
use warnings;
use File::Basename;
use Getopt::Long;
use TAP::Harness;

my ($comments, $exec, $counts);
my $jobs = 1;
GetOptions('comments' => \$comments, 'exec=s' => \$exec, 'jobs=i' => \$jobs, 'counts=s' => \$counts)
  and $counts
  or die "usage: tap.pl [--comments] [--exec PROGRAM] [--jobs N] --counts FILE TEST...\n";

my %options = (
	failures => 1,
	comments => $comments,
	jobs => $jobs);
$options{exec} = [$exec] if $exec;

my $aggregate = TAP::Harness->new(\%options)->runtests(@ARGV);

my ($passed, $failed, $skipped) = (0, 0, 0);
foreach my $test (sort $aggregate->descriptions)
{
	my ($parser) = $aggregate->parsers($test);
	my %other = map { $_ => 1 } $parser->skipped, $parser->todo;
	my $bad = $parser->failed;
	my $broken = ($parser->parse_errors || ($parser->wait && !$bad)) ? 1 : 0;

	$passed += grep { !$other{$_} } $parser->actual_passed;
	$skipped += keys %other;
	$skipped++ if $parser->skip_all;
	$failed += $bad + $broken;

	show_log($test) if $bad || $broken;
}

open(my $file, '>', $counts) or die "$counts: $!\n";
print $file "$passed $failed $skipped\n";
close($file) or die "$counts: $!\n";
exit($failed ? 1 : 0);

# what PostgreSQL::Test and pgtap.sh wrote down while the test ran
sub show_log
{
	my $name = basename(shift, '.pl', '.sql');

	foreach my $log ("$ENV{SCRATCH}/tap/tmp_check/log/regress_log_$name",
		"$ENV{SCRATCH}/pgtap/$name.log")
	{
		next if !-s $log;
		print "--- end of the log of $name\n";
		system('tail', '-n', '60', $log);
	}
	return;
}
