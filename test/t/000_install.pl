# The extension can be created, dropped and created again in a new cluster.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('install');
$node->init;
$node->start;

$node->safe_psql('postgres', 'CREATE EXTENSION dq_gate');
is($node->safe_psql('postgres', 'SELECT count(*) FROM dq_gate.runs'),
	'0', 'a new log is empty');

$node->safe_psql('postgres', 'DROP EXTENSION dq_gate');
is( $node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dq_%'"),
	'0',
	'dropping the extension leaves no schema');

is($node->psql('postgres', 'CREATE EXTENSION dq_gate'), 0, 'it can be created again');

$node->stop;
done_testing();
