--
-- What every pgTAP test finds: a database of its own, made from this template
-- and owned by dq_tester, the unprivileged role that it runs as.
--
CREATE ROLE dq_tester LOGIN;

-- others, for tests about rights: dq_tester may SET ROLE to them, they have no rights on what is dq_tester's
CREATE ROLE dq_loader LOGIN;
CREATE ROLE dq_outsider LOGIN;
GRANT dq_loader, dq_outsider TO dq_tester;

CREATE DATABASE dq_pgtap;
\connect dq_pgtap
CREATE EXTENSION pgtap;
CREATE EXTENSION dq_gate;
\connect postgres
