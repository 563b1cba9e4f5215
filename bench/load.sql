-- Orders to publish: a target with a primary key and foreign keys, a batch of
-- which half replaces rows of the target and half is new, in random order.
-- psql variables: target_rows, batch_rows.
\set ON_ERROR_STOP 1
SET synchronous_commit = off;
CREATE TABLE customers (customer_id int PRIMARY KEY, name text NOT NULL);
INSERT INTO customers SELECT g, 'customer ' || g FROM generate_series(1, :target_rows / 10) g;
CREATE TABLE products (product_sku text PRIMARY KEY, title text);
INSERT INTO products SELECT 'SKU-' || lpad(g::text, 6, '0'), 'product ' || g FROM generate_series(1, 20000) g;

CREATE TABLE orders (
	order_id bigint PRIMARY KEY,
	customer_id int NOT NULL REFERENCES customers,
	product_sku text NOT NULL REFERENCES products,
	order_total numeric(12,2),
	status text NOT NULL,
	created_at timestamptz NOT NULL,
	email text,
	zip text,
	qty int,
	country char(2),
	updated_at timestamptz NOT NULL,
	note text);

-- every column follows from the id and, where a second load changes it, a salt
CREATE FUNCTION make_orders(ids bigint[], salt int) RETURNS SETOF orders
LANGUAGE sql AS $$
	SELECT id, 1 + (abs(hashint8extended(id, 1)) % (SELECT max(customer_id) FROM customers))::int,
		'SKU-' || lpad((1 + abs(hashint8extended(id, 2) % 20000))::text, 6, '0'),
		((abs(hashint8extended(id, 3 + salt)) % 100000) / 100.0)::numeric(12,2),
		(ARRAY['new','paid','shipped','delivered','cancelled'])[1 + abs(hashint8extended(id, 4 + salt)) % 5],
		'2026-11-01'::timestamptz + (abs(hashint8extended(id, 5)) % 2500000) * interval '1 second',
		'user' || (abs(hashint8extended(id, 6)) % 900000) || '@example.com',
		lpad((abs(hashint8extended(id, 7)) % 100000)::text, 5, '0'),
		1 + (abs(hashint8extended(id, 8)) % 20)::int,
		(ARRAY['US','DE','FR','GB','NL','SE','IT','ES'])[1 + abs(hashint8extended(id, 9)) % 8]::char(2),
		'2026-11-20'::timestamptz + (abs(hashint8extended(id, 10 + salt)) % 800000) * interval '1 second',
		CASE WHEN id % 10 >= 3 THEN 'note for order ' || id || ' lorem ipsum dolor' END
	FROM unnest(ids) id
$$;
INSERT INTO orders SELECT m.* FROM make_orders(ARRAY(SELECT generate_series(1, :target_rows)), 0) m;
CREATE TABLE orders_staging AS SELECT m.* FROM make_orders(ARRAY(
	SELECT CASE WHEN g % 2 = 0 THEN g * (:target_rows / :batch_rows) ELSE :target_rows + g END
	FROM generate_series(1, :batch_rows) g ORDER BY hashint4(g)), 100) m;
VACUUM (ANALYZE) customers, products, orders, orders_staging;
CHECKPOINT;
