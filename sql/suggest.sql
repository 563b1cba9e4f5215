/*
 * suggest.sql
 *
 * What there is says what to expect: a table, which checks would suit it, and
 * the log, which thresholds.
 */

/*
 * It runs as the caller, with pg_catalog alone in its search_path: operators
 * of other schemas are found by nobody, and values of types that need them are
 * compared through their type's own order, which DISTINCT takes.  All
 * statements see the snapshot of the one that called it.
 */

CREATE FUNCTION dq_gate.suggest_checks(table_name pg_catalog.regclass,
									   sample_rows pg_catalog.int8 DEFAULT 100000,
									   OUT check_type pg_catalog.text,
									   OUT columns pg_catalog.text[],
									   OUT statement pg_catalog.text,
									   OUT evidence pg_catalog.text)
RETURNS SETOF pg_catalog.record
AS $$
#variable_conflict use_variable
DECLARE
	relation	text;			-- the table, quoted
	source		text;			-- what is profiled, under the alias t
	whole		boolean;		-- that is all of it
	total		bigint;			-- its rows
	rows		text;			-- the same in words
	profile		jsonb := '[]';	-- columns with what the scans found
	part		jsonb;
	known		text[];			-- what constraints and declared checks say already
	found		jsonb := '[]';	-- the suggestions
	pairs		jsonb := '[]';
	col			record;
	pair		record;
	ref			record;
	learned		record;
	is_unique	boolean;
	is_coded	boolean;
	refers		boolean;
	low			numeric;
	high		numeric;
	unit		numeric;
	earliest	timestamp;		-- in UTC
	latest		timestamp;
	bounds		text;
	form		record;
	matches		boolean;
	referring	text[] := '{}';
BEGIN
	IF table_name IS NULL THEN
		RAISE EXCEPTION 'argument "table_name" must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF sample_rows < 1 THEN
		RAISE EXCEPTION 'argument "sample_rows" must be at least 1' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'NULL takes all rows.';
	END IF;
	SELECT format('%I.%I', n.nspname, c.relname) INTO relation
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.oid = table_name;
	IF relation IS NULL THEN
		RAISE EXCEPTION 'table with OID % does not exist', table_name::oid USING ERRCODE = 'undefined_table';
	END IF;
	IF EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			   WHERE c.oid = table_name
			   AND (c.relkind NOT IN ('r', 'p')
					OR n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast', 'dq_gate', 'dq_quarantine'))) THEN
		RAISE EXCEPTION '% cannot be a target table', relation USING ERRCODE = 'wrong_object_type',
			HINT = 'A gate guards an ordinary or partitioned table; name the table itself.';
	END IF;
	IF row_security_active(table_name) THEN
		RAISE EXCEPTION 'row-level security of table % would hide rows', relation USING ERRCODE = 'insufficient_privilege',
			HINT = 'Ask as a role that bypasses row-level security, or as the owner of the table.';
	END IF;

	-- the columns that the caller may read, and what their types can do
	SELECT COALESCE(jsonb_agg(to_jsonb(c) ORDER BY c.attnum), '[]') INTO profile
	FROM (
		SELECT a.attnum, a.attname AS name, format('t.%I', a.attname) AS sql, b.base, b.typname AS type, a.attcollation AS collid,
			a.attnotnull OR b.notnull AS required,
			CASE WHEN b.typnamespace = 'pg_catalog'::regnamespace AND b.typname IN ('int2', 'int4', 'int8') THEN 'integer'
				 WHEN b.typnamespace = 'pg_catalog'::regnamespace AND b.typname IN ('numeric', 'float4', 'float8') THEN 'number'
				 WHEN b.typnamespace = 'pg_catalog'::regnamespace AND b.typname IN ('date', 'timestamp', 'timestamptz') THEN 'time'
				 WHEN b.typcategory = 'S' AND b.typname IN ('text', 'varchar', 'bpchar', 'citext') THEN 'text'
				 WHEN b.typtype = 'e' THEN 'enum'
				 WHEN b.typtype = 'b' AND b.typname NOT IN ('bool', 'jsonb', 'bytea', 'tsvector', 'tsquery')
				 AND EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod
							 WHERE m.amname = 'btree' AND o.opcdefault AND o.opcintype = b.base) THEN 'other'
			END AS family,
			-- made by the database, one higher than the last
			a.attidentity <> '' OR COALESCE(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false) AS numbered,
			CASE WHEN b.typname IN ('varchar', 'bpchar') AND b.typmod > 4 THEN b.typmod - 4 END AS limit,
			b.checked OR EXISTS (SELECT FROM pg_constraint k
								 WHERE k.conrelid = table_name AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]
								 AND to_jsonb(k) ->> 'conenforced' IS DISTINCT FROM 'false') AS checked,
			EXISTS (SELECT FROM pg_constraint k
					WHERE k.conrelid = table_name AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]
					AND to_jsonb(k) ->> 'conenforced' IS DISTINCT FROM 'false'
					AND pg_get_constraintdef(k.oid) LIKE '% IS NOT NULL%') AS checked_not_null,
			EXISTS (SELECT FROM pg_constraint k
					WHERE k.conrelid = table_name AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum]
					AND to_jsonb(k) ->> 'conenforced' IS DISTINCT FROM 'false') AS refers,
			EXISTS (SELECT FROM pg_index i
					WHERE i.indrelid = table_name AND i.indisunique AND i.indpred IS NULL AND i.indisvalid
					AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum) AS is_key
		FROM pg_attribute a
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum,
		LATERAL (
			-- a domain is what it is made of
			WITH RECURSIVE type AS (
				SELECT y.*, a.atttypmod AS mod, 1 AS depth FROM pg_type y WHERE y.oid = a.atttypid
				UNION ALL
				SELECT y.*, CASE WHEN type.mod < 0 THEN type.typtypmod ELSE type.mod END, type.depth + 1
				FROM type JOIN pg_type y ON y.oid = type.typbasetype AND type.typtype = 'd'
			)
			SELECT y.oid AS base, y.typname, y.typnamespace, y.typcategory, y.typtype, y.mod AS typmod,
				(SELECT bool_or(type.typnotnull) FROM type) AS notnull,
				EXISTS (SELECT FROM pg_constraint k JOIN type ON k.contypid = type.oid WHERE k.contype = 'c') AS checked
			FROM type y ORDER BY y.depth DESC LIMIT 1
		) AS b
		WHERE a.attrelid = table_name AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		AND b.typtype <> 'c'
		AND has_column_privilege(table_name, a.attnum, 'SELECT')
	) AS c;

	-- all rows if they are not too many, or else some that are spread over the table
	EXECUTE format('SELECT count(*) FROM (SELECT FROM %s LIMIT %s) AS t', relation,
				   LEAST(sample_rows, 9223372036854775806) + 1)
	INTO total;
	whole := total <= COALESCE(sample_rows, total);
	IF total = 0 OR profile = '[]' THEN
		RETURN;
	END IF;
	source := format('%s AS t', relation);
	IF NOT whole THEN
		WITH RECURSIVE part AS (
			SELECT table_name::oid AS oid
			UNION
			SELECT i.inhrelid FROM part JOIN pg_inherits i ON i.inhparent = part.oid
		)
		SELECT CASE WHEN bool_or(c.relkind = 'f') THEN NULL
			   ELSE format('%s AS t TABLESAMPLE SYSTEM (%s) REPEATABLE (0)', relation,
						   LEAST(100, 100 * sample_rows / GREATEST(total, sum(
							   CASE WHEN c.relkind <> 'r' THEN 0
							   ELSE pg_relation_size(c.oid) / current_setting('block_size')::numeric
								   * CASE WHEN c.reltuples > 0 AND c.relpages > 0 THEN (c.reltuples / c.relpages)::numeric ELSE 50 END
							   END)))) END
		INTO source
		FROM part JOIN pg_class c USING (oid);
		IF source IS NOT NULL THEN
			EXECUTE format('SELECT count(*) FROM %s', source) INTO total;
			rows := format('%s sampled rows', total);
		END IF;
		-- foreign partitions cannot be sampled, and a sample may be empty
		IF source IS NULL OR total = 0 THEN
			SELECT format('(SELECT %s FROM %s LIMIT %s) AS t', string_agg(format('%I', c.name), ', ' ORDER BY c.attnum),
						  relation, sample_rows)
			INTO source
			FROM jsonb_to_recordset(profile) AS c (attnum int, name text);
			total := sample_rows;
			rows := format('the first %s rows', total);
		END IF;
	ELSE
		rows := format('%s row%s', total, CASE WHEN total <> 1 THEN 's' END);
	END IF;

	-- what each column has, forty columns a scan
	FOR part IN
		SELECT jsonb_agg(c ORDER BY n) FROM jsonb_array_elements(profile) WITH ORDINALITY AS e (c, n) GROUP BY (n - 1) / 40
	LOOP
		EXECUTE format('SELECT jsonb_build_array(VARIADIC ARRAY[%s]) FROM %s', (
			SELECT string_agg(format('jsonb_build_object(%s)', concat_ws(', ',
				format('%L, %s', 'attnum', c.attnum),
				format('%L, count(%s)', 'filled', c.sql),
				CASE WHEN c.family IS NOT NULL THEN format('%L, count(DISTINCT %s)', 'different', c.sql) END,
				CASE WHEN c.family IN ('integer', 'number', 'time')
					 THEN format('%L, min(%2$s)::text, %3$L, max(%2$s)::text', 'low', c.sql, 'high') END,
				CASE WHEN c.family IN ('integer', 'number') THEN format('%L, stddev(%s::numeric)::text', 'deviation', c.sql) END,
				CASE WHEN c.family = 'text'
					 THEN format('%L, min(length(%2$s::text)), %3$L, max(length(%2$s::text)),'
								 ' %4$L, bool_and(%2$s::text COLLATE "C" ~ %5$L), %6$L, bool_and(%2$s::text COLLATE "C" ~ %7$L),'
								 ' %8$L, bool_and(%2$s::text COLLATE "C" ~ %9$L), %10$L, bool_and(%2$s::text COLLATE "C" ~ %11$L)',
								 'shortest', c.sql, 'longest',
								 'uuid', '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
								 'date', '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
								 'digits', '^[0-9]+$',
								 'e-mail', '^[^@[:space:]]+@[^@[:space:]]+[.][^@[:space:].]+$') END)), ', ')
			FROM jsonb_to_recordset(part) AS c (attnum int, sql text, family text)), source)
		INTO part;
		SELECT jsonb_agg(c || COALESCE(p, '{}') ORDER BY n) INTO profile
		FROM jsonb_array_elements(profile) WITH ORDINALITY AS e (c, n)
		LEFT JOIN jsonb_array_elements(part) AS p ON p -> 'attnum' = c -> 'attnum';
	END LOOP;

	-- the values of columns that have few, in one more scan; as the type writes them, since a cast may be anybody's function
	SELECT string_agg(format('jsonb_build_object(%L, %s, %L, format(%L, array_agg(DISTINCT %s))::text[])', 'attnum', c.attnum, 'accepted', '%s', c.sql), ', ')
	INTO bounds
	FROM jsonb_to_recordset(profile) AS c (attnum int, sql text, family text, base oid, filled bigint, different bigint, checked bool, refers bool)
	WHERE c.family IN ('text', 'enum', 'integer') AND c.different BETWEEN 1 AND 10 AND c.different <= 0.05 * c.filled
	AND NOT c.checked AND NOT c.refers
	-- an enum of which all labels are used takes no others anyway
	AND (c.family <> 'enum' OR c.different < (SELECT count(*) FROM pg_enum e WHERE e.enumtypid = c.base));
	IF bounds IS NOT NULL THEN
		EXECUTE format('SELECT to_jsonb(ARRAY[%s]) FROM %s', bounds, source) INTO part;
		SELECT jsonb_agg(c || COALESCE(p, '{}') ORDER BY n) INTO profile
		FROM jsonb_array_elements(profile) WITH ORDINALITY AS e (c, n)
		LEFT JOIN jsonb_array_elements(part) AS p ON p -> 'attnum' = c -> 'attnum';
	END IF;

	-- columns that bear the name of the key of another table, and all whose values are there
	FOR ref IN
		SELECT c.name, c.sql, c.filled, format('%I.%I', n.nspname, o.relname) AS relation, k.attname AS key
		FROM jsonb_to_recordset(profile) AS c (name text, sql text, filled bigint, base oid, collid oid, family text, refers bool)
		JOIN pg_class r ON r.oid = table_name
		JOIN pg_class o ON o.relnamespace = r.relnamespace AND o.oid <> r.oid AND o.relkind IN ('r', 'p') AND NOT o.relispartition
		JOIN pg_namespace n ON n.oid = o.relnamespace
		JOIN pg_index i ON i.indrelid = o.oid AND i.indisprimary AND i.indnkeyatts = 1
		JOIN pg_attribute k ON k.attrelid = o.oid AND k.attnum = i.indkey[0]
		WHERE c.filled > 0 AND NOT c.refers AND c.family IN ('integer', 'text', 'other')
		AND k.atttypid = c.base AND k.attcollation = c.collid
		AND (SELECT y.typnamespace FROM pg_type y WHERE y.oid = c.base) = 'pg_catalog'::regnamespace
		AND ((c.name = k.attname AND k.attname <> 'id')
			 OR c.name IN (o.relname || '_' || k.attname,
						   regexp_replace(o.relname, 's$', '') || '_' || k.attname,
						   regexp_replace(o.relname, 'es$', '') || '_' || k.attname,
						   regexp_replace(o.relname, 'ies$', 'y') || '_' || k.attname))
		AND has_column_privilege(o.oid, k.attnum, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE')
		AND NOT row_security_active(o.oid)
		ORDER BY c.name, o.relname
	LOOP
		EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s WHERE %s IS NOT NULL AND NOT EXISTS (SELECT FROM %s AS o WHERE o.%I = %2$s))',
					   source, ref.sql, ref.relation, ref.key)
		INTO matches;
		IF matches THEN
			found := found || jsonb_build_object('type', 'referential', 'columns', jsonb_build_array(ref.name),
				'arguments', format('ARRAY[%L], %L, ARRAY[%L]', ref.name, ref.relation, ref.key),
				'evidence', format('all of %s values are in %s (%I)', ref.filled, ref.relation, ref.key));
			referring := referring || ref.name::text;
		END IF;
	END LOOP;

	FOR col IN
		SELECT * FROM jsonb_to_recordset(profile)
			AS c (attnum int, name text, sql text, base oid, type text, collid oid, family text, required bool, numbered bool, "limit" int,
				  checked bool, checked_not_null bool, refers bool, is_key bool,
				  filled bigint, different bigint, low text, high text, deviation numeric, shortest int, longest int,
				  uuid bool, date bool, digits bool, "e-mail" bool, accepted jsonb)
		ORDER BY c.attnum
	LOOP
		IF NOT col.required AND NOT col.checked_not_null THEN
			IF col.filled = total THEN
				found := found || jsonb_build_object('type', 'not_null', 'columns', jsonb_build_array(col.name),
					'arguments', format('%L', col.name), 'evidence', format('no NULL in %s', rows));
			ELSIF total - col.filled < 0.01 * total THEN
				found := found || jsonb_build_object('type', 'not_null', 'columns', jsonb_build_array(col.name),
					'arguments', format('%L, max_rate => 0.01', col.name),
					'evidence', format('%s NULL in %s, %s%%', total - col.filled, rows,
									   trim_scale(round(100.0 * (total - col.filled) / total, 3))));
			END IF;
		END IF;
		CONTINUE WHEN col.filled = 0 OR col.family IS NULL;

		is_unique := col.is_key OR (col.filled >= 100 AND col.different = col.filled);
		IF is_unique AND whole AND NOT col.is_key THEN
			found := found || jsonb_build_object('type', 'unique', 'columns', jsonb_build_array(col.name),
				'arguments', format('ARRAY[%L]', col.name),
				'evidence', format('no two of %s values are equal', col.filled));
		END IF;

		-- what is in another table need not be listed here
		refers := col.refers OR col.name = ANY (referring);
		is_coded := col.accepted IS NOT NULL AND NOT refers;
		IF is_coded THEN
			found := found || jsonb_build_object('type', 'accepted_values', 'columns', jsonb_build_array(col.name),
				'arguments', format('%L, ARRAY[%s]', col.name, (
					SELECT string_agg(quote_literal(v), ', ' ORDER BY v COLLATE "C") FROM jsonb_array_elements_text(col.accepted) AS a (v)
					WHERE v IS NOT NULL)),
				'evidence', format('%s distinct value%s in %s', col.different, CASE WHEN col.different <> 1 THEN 's' END, rows));
		END IF;
		CONTINUE WHEN col.checked;

		-- numbers: what was seen, with room on both sides; not one that never varies, or only names a row
		IF col.family IN ('integer', 'number') AND NOT is_coded AND NOT refers AND col.deviation > 0
			AND NOT (col.family = 'integer' AND (is_unique OR col.numbered))
			AND col.low NOT IN ('NaN', 'Infinity', '-Infinity') AND col.high NOT IN ('NaN', 'Infinity', '-Infinity') THEN
			low := col.low::numeric;
			high := col.high::numeric;
			-- to two digits of the deviation, and whole numbers stay whole
			unit := ('1e' || floor(log(col.deviation)) - 1)::numeric;
			IF col.family = 'integer' THEN
				unit := GREATEST(unit, 1);
			END IF;
			low := floor((low - 3 * col.deviation) / unit) * unit;
			high := ceil((high + 3 * col.deviation) / unit) * unit;
			IF col.family = 'integer' THEN
				low := GREATEST(low, CASE col.type WHEN 'int2' THEN -32768 WHEN 'int4' THEN -2147483648 ELSE -9223372036854775808 END);
				high := LEAST(high, CASE col.type WHEN 'int2' THEN 32767 WHEN 'int4' THEN 2147483647 ELSE 9223372036854775807 END);
			END IF;
			IF GREATEST(abs(low), abs(high)) < (CASE col.type WHEN 'float4' THEN 3e38 WHEN 'float8' THEN 1e308 ELSE 'Infinity'::numeric END) THEN
				found := found || jsonb_build_object('type', 'range', 'columns', jsonb_build_array(col.name),
					'arguments', format('%L, min => %s, max => %s', col.name, trim_scale(low), trim_scale(high)),
					'evidence', format('%s to %s in %s, standard deviation %s', col.low, col.high, rows,
									   trim_scale(round(col.deviation, GREATEST(0, 2 - floor(log(col.deviation)))::int))));
			END IF;
		END IF;

		-- points in time: the years that were seen, and whether they are past
		IF col.family = 'time' THEN
			-- a date may be later than any timestamp
			earliest := CASE WHEN col.type <> 'date' THEN col.low::timestamp WHEN col.low::date < '200000-01-01' THEN col.low::date ELSE 'infinity' END;
			latest := CASE WHEN col.type <> 'date' THEN col.high::timestamp WHEN col.high::date < '200000-01-01' THEN col.high::date ELSE 'infinity' END;
			IF latest <= now() AT TIME ZONE 'UTC' THEN
				found := found || jsonb_build_object('type', 'not_future', 'columns', jsonb_build_array(col.name),
					'arguments', format('%L', col.name),
					'evidence', format('the latest of %s is %s', rows, col.high));
			END IF;
			IF latest <= now() AT TIME ZONE 'UTC' AND latest > now() AT TIME ZONE 'UTC' - interval '7 days' THEN
				found := found || jsonb_build_object('type', 'freshness', 'columns', jsonb_build_array(col.name),
					'arguments', format('%L, %L', col.name,
						make_interval(days => ceil(extract(epoch FROM now() AT TIME ZONE 'UTC' - latest + interval '1 hour') * 2 / 86400)::int)::text),
					'evidence', format('the latest of %s is %s, %s ago', rows, col.high, date_trunc('minute', now() AT TIME ZONE 'UTC' - latest)));
			END IF;
			SELECT string_agg(format('%s => %L', bound.name, CASE col.type WHEN 'date' THEN bound.year::date::text
				WHEN 'timestamptz' THEN bound.year || '+00' ELSE bound.year::text END), ', ' ORDER BY bound.name DESC)
			INTO bounds
			FROM (VALUES ('min', date_trunc('year', earliest)),
				('max', CASE WHEN latest > now() AT TIME ZONE 'UTC' AND latest < '9000-01-01' THEN date_trunc('year', latest) + interval '1 year' END))
				AS bound (name, year)
			WHERE isfinite(bound.year);
			IF bounds <> '' THEN
				found := found || jsonb_build_object('type', 'range', 'columns', jsonb_build_array(col.name),
					'arguments', format('%L, %s', col.name, bounds),
					'evidence', format('%s to %s in %s', col.low, col.high, rows));
			END IF;
		END IF;

		IF col.family = 'text' AND NOT is_coded AND NOT refers THEN
			SELECT f.* INTO form
			FROM (VALUES
				('a UUID', col.uuid, '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$', false),
				('an ISO date', col.date, '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', false),
				('a string of digits', col.digits, '^[0-9]+$', true),
				('an e-mail address', col."e-mail", '^[^@[:space:]]+@[^@[:space:]]+[.][^@[:space:].]+$', true))
				AS f (name, matches, pattern, has_length)
			WHERE f.matches LIMIT 1;
			IF form.name IS NOT NULL THEN
				found := found || jsonb_build_object('type', 'pattern', 'columns', jsonb_build_array(col.name),
					'arguments', format('%L, %L', col.name, form.pattern),
					'evidence', format('each of %s values is %s', col.filled, form.name));
			END IF;
			bounds := concat_ws(', ', CASE WHEN col.shortest > 0 THEN format('min => %s', col.shortest) END,
								CASE WHEN col.longest < COALESCE(col.limit, col.longest + 1) THEN format('max => %s', col.longest) END);
			IF bounds <> '' AND form.has_length IS NOT FALSE THEN
				found := found || jsonb_build_object('type', 'length', 'columns', jsonb_build_array(col.name),
					'arguments', format('%L, %s', col.name, bounds),
					'evidence', format('%s characters in %s', concat_ws(' to ', col.shortest, NULLIF(col.longest, col.shortest)), rows));
			END IF;
		END IF;
	END LOOP;

	-- a table without any key may have one of two columns, of which the closest fit is tried first
	IF whole AND total >= 100 AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = table_name AND i.indisunique)
		AND NOT EXISTS (SELECT FROM jsonb_array_elements(found) AS f WHERE f ->> 'type' = 'unique') THEN
		FOR pair IN
			WITH candidate AS (
				SELECT * FROM jsonb_to_recordset(profile) AS c (attnum int, name text, sql text, family text, filled bigint, different bigint)
				WHERE c.filled = total AND c.different > 1 AND c.family <> 'number'
			)
			SELECT a.name AS first, b.name AS second, a.sql AS first_sql, b.sql AS second_sql
			FROM candidate a JOIN candidate b ON b.attnum > a.attnum
			WHERE a.different::numeric * b.different >= total
			ORDER BY a.different::numeric * b.different, a.attnum, b.attnum LIMIT 6
		LOOP
			EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s GROUP BY %s, %s HAVING count(*) > 1)', source, pair.first_sql, pair.second_sql)
			INTO matches;
			IF matches THEN
				found := found || jsonb_build_object('type', 'unique', 'columns', jsonb_build_array(pair.first, pair.second),
					'arguments', format('ARRAY[%L, %L]', pair.first, pair.second),
					'evidence', format('no two of %s have the same (%I, %I)', rows, pair.first, pair.second));
				EXIT;
			END IF;
		END LOOP;
	END IF;

	-- points in time of which one is never after the other
	SELECT string_agg(format('jsonb_build_object(%L, %L, %L, %L, %L, count(*) FILTER (WHERE %s < %s), %L, count(*) FILTER (WHERE %6$s > %7$s))',
							 'left', a.name, 'right', b.name, 'before', a.sql, b.sql, 'after'), ', ')
	INTO bounds
	FROM (SELECT c.*, row_number() OVER (ORDER BY c.attnum) AS n
		  FROM jsonb_to_recordset(profile) AS c (attnum int, name text, sql text, type text, family text, filled bigint)
		  WHERE c.family = 'time' AND c.filled > 0 LIMIT 16) AS a
	JOIN jsonb_to_recordset(profile) AS b (attnum int, name text, sql text, type text, family text, filled bigint)
	ON b.type = a.type AND b.attnum > a.attnum AND b.filled > 0;
	IF bounds IS NOT NULL THEN
		EXECUTE format('SELECT to_jsonb(ARRAY[%s]) FROM %s', bounds, source) INTO pairs;
		FOR pair IN
			SELECT CASE WHEN p.after = 0 THEN p."left" ELSE p."right" END AS first,
				CASE WHEN p.after = 0 THEN p."right" ELSE p."left" END AS second, p.before + p.after AS apart
			FROM jsonb_to_recordset(pairs) AS p ("left" text, "right" text, before bigint, after bigint)
			WHERE (p.before = 0) <> (p.after = 0)
		LOOP
			found := found || jsonb_build_object('type', 'compare', 'columns', jsonb_build_array(pair.first, pair.second),
				'arguments', format('%L, %L, %L, nulls => %L', pair.first, '<=', pair.second, 'pass'),
				'evidence', format('%I is before %I in %s of %s, and after it in none', pair.first, pair.second, pair.apart, rows));
		END LOOP;
	END IF;

	-- what batches were like
	SELECT count(*) AS batches, min(b.row_count) AS low, max(b.row_count) AS high,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY b.row_count) AS median
	INTO learned
	FROM (SELECT r.row_count FROM dq_gate.runs r WHERE r.target = table_name AND r.baseline
		  ORDER BY r.batch_time DESC, r.run_id DESC LIMIT 100) AS b;
	IF learned.batches >= 5 AND learned.median > 0 THEN
		found := found || jsonb_build_object('type', 'volume', 'columns', '[]'::jsonb,
			'arguments', format('min_ratio => %s, max_ratio => %s',
				trim_scale(floor(80 * learned.low / learned.median::numeric) / 100),
				trim_scale(ceil(125 * learned.high / learned.median::numeric) / 100)),
			'evidence', format('%s to %s rows in %s batches, median %s', learned.low, learned.high, learned.batches, learned.median));
	END IF;

	-- nothing that is known
	SELECT array_agg(k.type || ' ' || k.columns::text) INTO known
	FROM (
		SELECT c.check_type, c.columns FROM dq_gate.checks c WHERE c.target = table_name
		UNION ALL
		SELECT 'compare', ARRAY[a.attname::text, b.attname::text]
		FROM pg_constraint k
		JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
		JOIN pg_attribute b ON b.attrelid = k.conrelid AND b.attnum = ANY (k.conkey)
		WHERE k.conrelid = table_name AND k.contype = 'c'
	) AS k (type, columns);

	FOR check_type, columns, statement, evidence IN
		SELECT f.type, f.columns,
			format('SELECT dq_gate.expect_%s(%L, %s, action => %L);', f.type, relation, f.arguments, 'warn'), f.evidence
		FROM ROWS FROM (jsonb_to_recordset(found) AS (type text, columns text[], arguments text, evidence text))
			WITH ORDINALITY AS f (type, columns, arguments, evidence, n)
		WHERE NOT f.type || ' ' || f.columns::text = ANY (COALESCE(known, '{}'))
		ORDER BY (SELECT min(c.attnum) FROM jsonb_to_recordset(profile) AS c (attnum int, name text) WHERE c.name = f.columns[1]) NULLS LAST, f.n
	LOOP
		RETURN NEXT;
	END LOOP;
END
$$
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO'
SET intervalstyle = 'postgres'
SET timezone = 'UTC'
SET extra_float_digits = 1;
COMMENT ON FUNCTION dq_gate.suggest_checks(pg_catalog.regclass, pg_catalog.int8) IS
	'checks that would suit a table, by what is in it: the statements to declare them and the evidence; declares none';

CREATE FUNCTION dq_gate.calibrate(target pg_catalog.regclass,
								  apply pg_catalog.bool DEFAULT false,
								  low pg_catalog.float8 DEFAULT 0.05,
								  high pg_catalog.float8 DEFAULT 0.95,
								  runs pg_catalog.int4 DEFAULT 100,
								  OUT check_name pg_catalog.text,
								  OUT argument pg_catalog.text,
								  OUT current_value pg_catalog.text,
								  OUT proposed_value pg_catalog.text,
								  OUT evidence pg_catalog.text,
								  OUT statement pg_catalog.text)
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'dq_gate_calibrate'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.calibrate(pg_catalog.regclass, pg_catalog.bool, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4) IS
	'thresholds for the declared checks by what they measured in earlier batches; on request declares them so';
