# What the tests of dq_gate in this directory have in common.
package GateTest;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_gate_node start_pg_cron psql_c session background_c log_is_clean evidence);
our @EXPORT_OK = qw(as must $status $out $err);

# what the last call of as has answered
our ($status, $out, $err);

# the server that was made last
my $latest;

# A started server whose database postgres has the extension
sub new_gate_node
{
	my ($name, %init) = @_;
	my $conf = delete $init{conf} // '';
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%init);
	$node->append_conf('postgresql.conf', <<END);
autovacuum = off
max_prepared_transactions = 2
restart_after_crash = on
log_min_messages = warning
log_statement = none
$conf
END
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION dq_gate');
	$latest = $node;
	return $node;
}

# Restarts a server with pg_cron, for one database, in one of its two modes
sub start_pg_cron
{
	my ($node, %options) = @_;
	my $host = $node->host;
	my $database = $options{db} // 'postgres';
	my $workers = $options{workers} ? 'on' : 'off';

	$node->append_conf('postgresql.conf', <<END);
shared_preload_libraries = 'pg_cron'
cron.database_name = '$database'
cron.host = '$host'
cron.use_background_workers = $workers
END
	$node->restart;
	return;
}

sub _psql_command
{
	my ($node, %options) = @_;
	return (
		'psql', '-XAtq', '-v', 'VERBOSITY=verbose',
		'-h', $node->host, '-p', $node->port,
		($options{user} ? ('-U', $options{user}) : ()),
		'-d', $options{db} // 'postgres');
}

# Runs "psql -c SQL [-c SQL ...]": each one a message of its own.
# Returns exit status, stdout and stderr; errors have their SQLSTATE.
sub psql_c
{
	my ($node, $sql, %options) = @_;
	my ($out, $err) = ('', '');
	my @command = _psql_command($node, %options);

	push @command, '-v', "ON_ERROR_STOP=$options{on_error_stop}"
	  if defined $options{on_error_stop};
	push @command, map { ('-c', $_) } ref $sql ? @$sql : ($sql);
	local $ENV{PGOPTIONS} = $options{options} if $options{options};
	IPC::Run::run(\@command, '<', \undef, '>', \$out, '2>', \$err,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	my $status = $? >> 8;
	chomp $out;
	return ($status, $out, $err);
}

# Runs SQL as a role on the server that was made last.  Returns what it prints,
# or the SQLSTATE and message of its error.
sub as
{
	my ($user, $sql, %options) = @_;
	($status, $out, $err) = psql_c($latest, $sql, user => $user, %options);
	return $status == 0 ? $out : $err =~ /^ERROR:  (\w{5}): (.*)/m ? "$1: $2" : $err;
}

# The same of what has to work
sub must
{
	my ($user, $sql) = @_;
	my $result = as($user, $sql);
	die "as $user: $sql: $err" if $status != 0;
	return $result;
}

# Runs a script in one session that goes on after errors.
# Returns stdout and stderr.
sub session
{
	my ($node, $script, %options) = @_;
	my ($out, $err) = ('', '');
	my @command = _psql_command($node, %options);

	local $ENV{PGOPTIONS} = $options{options} if $options{options};
	IPC::Run::run(\@command, '<', \$script, '>', \$out, '2>', \$err,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	chomp $out;
	return ($out, $err);
}

# Starts "psql -c SQL" in the background; finish with ->finish, then
# $handle->{exit}, {out} and {err} say how it went
sub background_c
{
	my ($node, $sql, %options) = @_;
	my $self = bless { out => '', err => '' }, 'GateTest::Background';
	my @command = _psql_command($node, %options);

	push @command, map { ('-c', $_) } ref $sql ? @$sql : ($sql);
	local $ENV{PGAPPNAME} = $options{name} // 'background';
	$self->{run} = IPC::Run::start(\@command, '<', \undef,
		'>', \$self->{out}, '2>', \$self->{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return $self;
}

sub GateTest::Background::finish
{
	my ($self) = @_;
	$self->{run}->finish;
	$self->{exit} = $? >> 8;
	chomp $self->{out};
	return $self;
}

# Runs, results and quarantined rows, as "runs/results/rows"
sub evidence
{
	my ($node, $quarantine, $db) = @_;
	$db //= 'postgres';
	my $rows = $node->safe_psql($db, "SELECT to_regclass('$quarantine') IS NULL") eq 't'
	  ? 'none' : $node->safe_psql($db, "SELECT count(*) FROM $quarantine");
	return $node->safe_psql($db,
		'SELECT (SELECT count(*) FROM dq_gate.runs), (SELECT count(DISTINCT run_id) FROM dq_gate.results)')
	  . "|$rows";
}

# The server log holds nothing that only a defect writes there
sub log_is_clean
{
	my ($node) = @_;
	my @bad = grep { /WARNING:.*(snapshot|leak|SPI stack|transaction left|relcache|cache reference|still referenced|resource was not closed)|TRAP:|PANIC:|XX000|terminated by signal 11|cache lookup failed/ }
	  split /\n/, PostgreSQL::Test::Utils::slurp_file($node->logfile);

	is(join("\n", @bad), '', 'nothing alarming in the log of ' . $node->name);
	return;
}

1;
