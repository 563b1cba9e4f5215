# Runs every example of README.md and docs/*.md.
#
# The ```sql blocks of a document run in their order, each in a psql session of
# its own, in a database that is made for the document.  An HTML comment on the
# line before a block says what is special about it:
#
#   <!-- error: 23DQ1 -->   the last statement of the sql block raises this SQLSTATE
#   <!-- result -->         the text block holds what the block before it prints
#   <!-- run -->            the sh block is run as well, by bash -e
#
# Times and process ids are masked before results are compared, and so is the
# width of columns, which follows from them.
#
# Links between the documents lead somewhere, and the reference has every
# function with its arguments and every column.
use strict;
use warnings;
use File::Spec;
use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = File::Spec->rel2abs("$FindBin::RealBin/../..");
my $scratch = PostgreSQL::Test::Utils::tempdir();
my @documents = map { File::Spec->abs2rel($_, $top) }
  ("$top/README.md", "$top/CONTRIBUTING.md", sort glob("$top/docs/*.md"));

# the names of superuser and client are part of some results
$ENV{PGUSER} = 'postgres';
$ENV{PGAPPNAME} = 'psql';
my $node = PostgreSQL::Test::Cluster->new('docs');
$node->init(extra => [ '-U', 'postgres', '--no-locale', '-E', 'UTF8' ]);
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nlc_messages = 'C'");
$node->start;
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;

my %parsed = map { $_ => parse($_) } @documents;
foreach my $document (@documents)
{
	run_document($document, $parsed{$document}{blocks});
	follow_links($document, $parsed{$document});
}
check_reference('docs/reference.md');

$node->stop;
done_testing();

# Takes a document apart: its blocks, the anchors of its headings, its links.
sub parse
{
	my ($document) = @_;
	my (@blocks, %anchors, @links, $block, $mark, $mark_line);
	my $number = 0;

	foreach my $line (split /\n/, slurp_file("$top/$document"))
	{
		$number++;
		if ($block)
		{
			if ($line =~ /^\s*```\s*$/)
			{
				undef $block;
				next;
			}
			$block->{text} .= "$line\n";
			next;
		}
		if ($line =~ /^\s*```\s*(\w*)/)
		{
			$block = {
				document => $document,
				language => $1,
				line => $number,
				text => '',
				mark => $mark || '' };
			push @blocks, $block;
			fail("$document:$number: a block is sql, sh or text, not \"$1\"")
			  if $1 !~ /^(sql|sh|text)$/;
			undef $mark;
			next;
		}
		next if $line =~ /^\s*$/;
		fail("$document:$mark_line: no block follows the mark \"$mark\"") if defined $mark;
		undef $mark;
		($mark, $mark_line) = ($1, $number) if $line =~ /^<!--\s*(error:\s*\w+|result|run)\s*-->$/;
		if ($line =~ /^#+\s+(.*?)\s*$/)
		{
			my $anchor = lc $1;
			$anchor =~ s/[^\w\- ]//g;
			$anchor =~ tr/ /-/;
			$anchors{$anchor} = 1;
		}
		push @links, [ $number, $1 ] while $line =~ /\]\(([^)\s]+)\)/g;
	}
	fail("$document:$block->{line}: block does not end") if $block;
	return { blocks => \@blocks, anchors => \%anchors, links => \@links };
}

# Runs the examples of a document, and leaves nothing of them behind.
sub run_document
{
	my ($document, $blocks) = @_;
	my $previous;

	my @examples = grep { $_->{language} eq 'sql' || $_->{mark} eq 'run' } @$blocks;
	ok(@examples > 0, "$document has examples") if $document ne 'CONTRIBUTING.md';

	$node->safe_psql('postgres', 'CREATE DATABASE example');
	$ENV{PGDATABASE} = 'example';
	$node->safe_psql('example', 'CREATE EXTENSION dq_gate')
	  unless grep { $_->{language} eq 'sql' && $_->{text} =~ /^CREATE EXTENSION dq_gate/m } @$blocks;

	foreach my $block (@$blocks)
	{
		my $where = "$document:$block->{line}";

		if ($block->{mark} eq 'result')
		{
			if ($block->{language} ne 'text' || !$previous)
			{
				fail("$where: a result is a text block behind an example");
				next;
			}
			is(masked($previous->{output}), masked($block->{text}),
				"$where: result of the example in line $previous->{line}");
			next;
		}
		undef $previous;
		if ($block->{language} eq 'sql')
		{
			run_sql($block, $where);
		}
		elsif ($block->{mark} eq 'run' && $block->{language} eq 'sh')
		{
			run_sh($block, $where);
		}
		elsif ($block->{mark} ne '')
		{
			fail("$where: a $block->{language} block cannot be marked \"$block->{mark}\"");
		}
		$previous = $block if defined $block->{output};
	}

	foreach my $database (split /\n/, $node->safe_psql('postgres',
			q{SELECT quote_ident(datname) FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'}))
	{
		$node->safe_psql('postgres', "DROP DATABASE $database");
	}
	foreach my $role (split /\n/, $node->safe_psql('postgres',
			q{SELECT quote_ident(rolname) FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> 'postgres'}))
	{
		$node->safe_psql('postgres', "DROP ROLE $role");
	}
	return;
}

sub run_sql
{
	my ($block, $where) = @_;
	my $file = "$scratch/example.sql";
	my ($expected) = $block->{mark} =~ /^error:\s*(\w+)$/;
	my ($output, @errors);

	open(my $handle, '>', $file) or die "$file: $!";
	print $handle $block->{text};
	close($handle) or die "$file: $!";

	# verbose messages show the SQLSTATE; it is taken out again for the result
	IPC::Run::run([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-f', $file ],
		'<', \undef, '>&', \$output);
	my $status = $? >> 8;
	my @lines;
	foreach my $line (split /\n/, $output)
	{
		next if $line =~ /^LOCATION:  /;
		my $at = $line =~ s/^psql:\Q$file\E:(\d+): // ? $1 : 0;
		if ($line =~ s/^([A-Z]+):  ([0-9A-Z]{5}): /$1:  /)
		{
			push @errors, { line => $block->{line} + $at, at => $at, sqlstate => $2, text => $line }
			  if $1 eq 'ERROR' || $1 eq 'FATAL' || $1 eq 'PANIC';
		}
		elsif ($line =~ /^(?:psql: )?error: /)
		{
			push @errors, { line => $block->{line} + $at, at => $at, sqlstate => 'psql', text => $line };
		}
		push @lines, $line;
	}
	$block->{output} = join("\n", @lines);

	if (defined $expected)
	{
		my $raised = @errors ? $errors[0]{sqlstate} : 'no error';
		my $at = @errors ? $errors[0]{at} : 0;
		my $end = () = $block->{text} =~ /\n/g;

		is($raised, $expected, "$where: raises $expected")
		  or diag("$where:\n$block->{output}");
		is($at, $end, "$where: by its last statement") if @errors;
	}
	else
	{
		ok(!@errors && $status == 0, "$where: runs")
		  or diag(
			@errors
			? "$block->{document}:$errors[0]{line}: $errors[0]{text}\n$block->{output}"
			: "$where: psql exits with status $status\n$block->{output}");
	}
	return;
}

sub run_sh
{
	my ($block, $where) = @_;
	my $output;

	IPC::Run::run([ 'bash', '-e', '-c', $block->{text} ], '<', \undef, '>&', \$output,
		init => sub { chdir $scratch });
	my $status = $? >> 8;
	$block->{output} = $output;
	ok($status == 0, "$where: runs")
	  or diag("$where: exits with status $status\n$output");
	return;
}

# What differs from run to run, and the white space that depends on it
sub masked
{
	my ($text) = @_;

	$text =~ s/\b\d{8}T\d{6}\.\d{6}Z/<batch>/g;
	$text =~ s/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?([+-]\d\d(:\d\d)?)?/<time>/g;
	$text =~ s/\b\d\d:\d\d:\d\d(\.\d+)?/<interval>/g;
	$text =~ s/\bbackend \d+/backend <pid>/g;
	$text =~ s/-{2,}/--/g;
	$text =~ s/[ \t]+/ /g;
	$text =~ s/^ | $//mg;
	$text =~ s/\n{2,}/\n/g;
	$text =~ s/^\n+|\n+$//g;
	return $text;
}

# Each routine has a section with its signature, in which "..." stands for the
# common arguments, and each column of a result or table is in the section about
# it.
sub check_reference
{
	my ($document) = @_;
	my %section = map { /^([^\n]+)\n(.*)/s ? ($1 => $2) : () } split /^## /m, slurp_file("$top/$document");
	my ($common) = ($section{'Common arguments'} // '') =~ /^```text\n(.*?)^```/ms;

	$node->safe_psql('postgres', 'CREATE EXTENSION dq_gate');
	my @routines = split /\n/, $node->safe_psql('postgres', <<'END');
SELECT concat_ws('|', proname, pg_get_function_arguments(oid), pg_get_function_result(oid))
FROM pg_proc
WHERE pronamespace = 'dq_gate'::regnamespace AND prorettype NOT IN ('event_trigger'::regtype, 'trigger'::regtype)
AND proname NOT IN ('fits', 'try_cast', 'wrapped_lines', 'sample_rows', 'sample_rows_step', 'schema_of_pg_cron', 'name_of_job', 'stray_quarantines')
ORDER BY proname
END
	foreach my $routine (@routines)
	{
		my ($name, $arguments, $result) = split /\|/, $routine;
		my $signature = "dq_gate.$name($arguments)" . (defined $result ? " RETURNS $result" : '');
		my ($documented) = ($section{$name} // '') =~ /^```text\n(.*?)^```/ms;

		$signature =~ s/, OUT [^)]*//;
		$signature =~ s/::(double precision|\w+)(\[\])?|\bIN |"//g;
		$documented = abbreviated($documented // '', $common);
		is($documented, $signature, "$document: signature of $name");
	}

	my @columns = split /\n/, $node->safe_psql('postgres', <<'END');
SELECT CASE relname WHEN 'run_summary' THEN 'publish' WHEN 'requeue_summary' THEN 'requeue' ELSE 'dq_gate.' || relname END || '|' || attname
FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid
WHERE relnamespace = 'dq_gate'::regnamespace AND relkind IN ('r', 'v', 'c') AND attnum > 0 AND NOT attisdropped
UNION ALL
SELECT proname || '|' || name
FROM pg_proc, unnest(proargnames, proargmodes) AS argument (name, mode)
WHERE pronamespace = 'dq_gate'::regnamespace AND proname IN ('preview', 'checks_of', 'import_gate', 'audit_table', 'constraint_ddl', 'overdue', 'suggest_checks', 'calibrate', 'purgeable') AND mode = 'o'
END
	my @missing = grep {
		my ($name, $column) = split /\|/;
		($section{$name} // '') !~ /^\|[^|]*`$column`/m
	} @columns;
	is("@missing", '', "$document: every column is in the section about it");
	return;
}

# A documented signature on one line, with the common arguments that are left
# out of it
sub abbreviated
{
	my ($signature, $common) = @_;

	$signature = masked($signature);
	$common = masked($common // '');
	$common =~ s/\bname text [^,]*,\s// if $signature =~ /\bname text\b/;
	$common =~ s/\baction text [^,]*,\s// if $signature =~ /\baction text\b/;
	$signature =~ s/\.\.\./$common/;
	$signature =~ tr/\n/ /;
	return $signature;
}

# Links to other files of the repository lead somewhere
sub follow_links
{
	my ($document, $of) = @_;

	foreach my $link (@{ $of->{links} })
	{
		my ($line, $url) = @$link;
		next if $url =~ /^[a-z]+:/;
		my ($path, $anchor) = split /#/, $url, 2;
		my $directory = $document =~ m{^(.*/)} ? $1 : '';
		my $target = $path eq '' ? $document : "$directory$path";

		1 while $target =~ s{[^/]+/\.\./}{};
		ok(-e "$top/$target", "$document:$line: $path exists") if $path ne '';
		next if !defined $anchor || !$parsed{$target};
		ok($parsed{$target}{anchors}{$anchor}, "$document:$line: $target has #$anchor");
	}
	return;
}
