-- the same rules as the gate has, one query a rule, as test frameworks do
SELECT count(*) FROM orders_staging;
SELECT count(*) FROM orders_staging WHERE order_id IS NULL;
SELECT count(*) FROM orders_staging WHERE customer_id IS NULL;
SELECT count(*) FROM orders_staging WHERE product_sku IS NULL;
SELECT count(*) FROM orders_staging WHERE status IS NULL;
SELECT count(*) FROM orders_staging WHERE created_at IS NULL;
SELECT count(*) FROM orders_staging WHERE updated_at IS NULL;
SELECT count(*) FROM orders_staging WHERE order_total < 0 OR order_total > 100000;
SELECT count(*) FROM orders_staging WHERE qty < 1 OR qty > 100;
SELECT count(*) FROM orders_staging WHERE status NOT IN ('new','paid','shipped','delivered','cancelled');
SELECT count(*) FROM orders_staging WHERE country NOT IN ('US','DE','FR','GB','NL','SE','IT','ES');
SELECT count(*) FROM orders_staging WHERE email !~ '^[^@ ]+@[^@ ]+[.][a-z]+$';
SELECT count(*) FROM orders_staging WHERE zip !~ '^[0-9]{5}$';
SELECT count(*) FROM orders_staging WHERE product_sku !~ '^SKU-[0-9]{6}$';
SELECT count(*) FROM orders_staging WHERE updated_at < created_at - interval '60 days';
SELECT count(*) - count(DISTINCT order_id) FROM orders_staging;
SELECT count(*) FROM orders_staging s LEFT JOIN customers c USING (customer_id) WHERE s.customer_id IS NOT NULL AND c.customer_id IS NULL;
SELECT count(*) FROM orders_staging s LEFT JOIN products p USING (product_sku) WHERE s.product_sku IS NOT NULL AND p.product_sku IS NULL;
