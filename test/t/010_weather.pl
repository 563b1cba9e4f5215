# The year of weather of the demo, whose faults are known from queries over the
# raw file: one impossible wind, one hour that daylight saving repeats.
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $examples = abs_path(dirname(__FILE__) . '/../../examples');
my $node = PostgreSQL::Test::Cluster->new('weather');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE dq_gate_demo');

{
	# the script reads its data from where it stands
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	my $status = system(
		"cd '$examples' && psql -Xq -d dq_gate_demo -v ON_ERROR_STOP=1 < demo.sql >/dev/null 2>&1");
	is($status, 0, 'the demo runs to its end');
}

sub value { return $node->safe_psql('dq_gate_demo', $_[0]) }

is(value('SELECT count(*), sum(row_count) FROM dq_gate.runs'),
	'364|26115', 'a run a day, every row of the file staged once');
is( value('SELECT sum(inserted + updated + unchanged + quarantined + dropped) FROM dq_gate.runs'),
	'26115', 'every row is accounted for');
is(value('SELECT verdict, count(*) FROM dq_gate.runs GROUP BY 1 ORDER BY 1'),
	"published|363\nrejected|1", 'one day is rejected');
is( value(q{SELECT as_of, failures[1] FROM dq_gate.runs WHERE verdict = 'rejected'}),
	'2013-11-03|key_unique: (origin, year, month, day, hour) is not unique in the batch:'
	  . ' 3 duplicated values in 6 rows, 3 surplus',
	'the day that repeats an hour, for three duplicated keys');
is(value('SELECT count(*) FROM weather WHERE month = 11 AND day = 3'),
	'0', 'none of its rows is published');
is( value(q{SELECT count(*), count(*) FILTER (WHERE failed_checks = '{key_unique}')
		FROM dq_quarantine.weather WHERE month = 11 AND day = 3}),
	'72|6', 'all of them are in quarantine, six with the reason');
is( value('SELECT origin, month, day, hour, wind_speed::numeric(8,2), failed_checks
		FROM dq_quarantine.weather WHERE NOT (month = 11 AND day = 3)'),
	'EWR|2|12|3|1048.36|{wind_speed_range}', 'the impossible wind is in quarantine, alone');
is( value('SELECT verdict, row_count, inserted, quarantined FROM dq_gate.runs
		WHERE as_of = \'2013-02-12\''),
	'published|72|71|1', 'its day is published without it');

# what was published is the file less what was kept back, by plain SQL
value(q{CREATE TABLE raw (LIKE weather)});
$node->safe_psql('dq_gate_demo',
	"COPY raw FROM PROGRAM 'gzip -dc $examples/nyc/weather.csv.gz' WITH (FORMAT csv, HEADER, NULL 'NA')");
is( value(q{
		SELECT count(*) FROM (
			(SELECT * FROM raw WHERE NOT (month = 11 AND day = 3) AND wind_speed IS DISTINCT FROM 1048.36058
			 EXCEPT ALL SELECT * FROM weather)
			UNION ALL
			(SELECT * FROM weather EXCEPT ALL SELECT * FROM raw)) d}),
	'0', 'the table is the file without the bad rows');
is(value('SELECT count(*) FROM weather'), '26042', 'as many rows as the runs say');

$node->stop;
done_testing();
