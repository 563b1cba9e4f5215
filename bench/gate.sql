-- the gate: these rules, and those that follow from the table itself
CREATE EXTENSION dq_gate;
SELECT dq_gate.create_gate('orders', staging => 'orders_staging');
SELECT dq_gate.expect_range('orders', 'order_total', min => 0, max => 100000);
SELECT dq_gate.expect_range('orders', 'qty', min => 1, max => 100);
SELECT dq_gate.expect_sql('orders', 'status_known', $$status IN ('new','paid','shipped','delivered','cancelled')$$);
SELECT dq_gate.expect_sql('orders', 'country_known', $$country IN ('US','DE','FR','GB','NL','SE','IT','ES')$$);
SELECT dq_gate.expect_sql('orders', 'email_form', $$email ~ '^[^@ ]+@[^@ ]+[.][a-z]+$'$$);
SELECT dq_gate.expect_sql('orders', 'zip_form', $$zip ~ '^[0-9]{5}$'$$);
SELECT dq_gate.expect_sql('orders', 'sku_form', $$product_sku ~ '^SKU-[0-9]{6}$'$$);
SELECT dq_gate.expect_sql('orders', 'dates_in_order', $$updated_at >= created_at - interval '60 days'$$);
