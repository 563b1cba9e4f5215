/*
 * schema.sql
 *
 * The two schemas of dq_gate.  They are created here rather than named in the
 * control file, so that a schema somebody planted under one of these names
 * fails the installation instead of being adopted by it.
 */
-- complain if the script is sourced in psql rather than run by CREATE EXTENSION
\echo Use "CREATE EXTENSION dq_gate" to load this file. \quit

CREATE SCHEMA dq_gate;
COMMENT ON SCHEMA dq_gate IS
	'gates, checks, runs and results of dq_gate, and its functions';

CREATE SCHEMA dq_quarantine;
COMMENT ON SCHEMA dq_quarantine IS
	'rejected rows, one table a guarded target, made by dq_gate when first needed';
