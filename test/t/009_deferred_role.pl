# A trigger that the role of a gate has placed must not run as whoever calls
# the gate, not even when it is deferred to the end of the transaction.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('deferred');
$node->init;
$node->start;

$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION dq_gate;
	CREATE ROLE keeper;
	CREATE SCHEMA mine AUTHORIZATION keeper;
	SET ROLE keeper;
	CREATE TABLE mine.target (id int PRIMARY KEY);
	CREATE TABLE mine.staging (id int);
	INSERT INTO mine.staging VALUES (1);
	CREATE TABLE mine.other (id int);
	CREATE TABLE mine.seen (who text);
	CREATE FUNCTION mine.tell() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN INSERT INTO mine.seen VALUES (current_user); RETURN NULL; END $$;
	CREATE CONSTRAINT TRIGGER tell AFTER INSERT ON mine.other
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mine.tell();
	CREATE FUNCTION mine.pass_on() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN INSERT INTO mine.other VALUES (1); RETURN NULL; END $$;
	CREATE TRIGGER pass_on AFTER INSERT ON mine.target
		FOR EACH ROW EXECUTE FUNCTION mine.pass_on();
	SELECT dq_gate.create_gate('mine.target');
});

is( $node->safe_psql('postgres', q{
		SELECT verdict, inserted FROM dq_gate.publish('mine.staging', 'mine.target')}),
	'published|1', 'a superuser publishes');
is($node->safe_psql('postgres', 'SELECT who FROM mine.seen'),
	'keeper', 'the deferred trigger ran as the role of the gate');

# what begins deferred is deferred again afterwards
$node->safe_psql(
	'postgres', q{
	CREATE TABLE parent (id int PRIMARY KEY);
	CREATE TABLE child (parent int REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
});
is( $node->psql(
		'postgres', q{
		BEGIN;
		SELECT dq_gate.publish('mine.staging', 'mine.target');
		INSERT INTO child VALUES (1);
		INSERT INTO parent VALUES (1);
		COMMIT;}, on_error_stop => 1),
	0, 'constraints of other tables are as deferred as before');

$node->stop;
done_testing();
