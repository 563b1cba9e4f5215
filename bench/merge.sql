-- what everybody would write by hand: no check at all
MERGE INTO orders t USING orders_staging s ON t.order_id = s.order_id
WHEN MATCHED THEN UPDATE SET customer_id = s.customer_id, product_sku = s.product_sku,
	order_total = s.order_total, status = s.status, created_at = s.created_at, email = s.email,
	zip = s.zip, qty = s.qty, country = s.country, updated_at = s.updated_at, note = s.note
WHEN NOT MATCHED THEN INSERT VALUES (s.order_id, s.customer_id, s.product_sku, s.order_total,
	s.status, s.created_at, s.email, s.zip, s.qty, s.country, s.updated_at, s.note);
