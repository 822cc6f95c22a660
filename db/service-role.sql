-- Returns the statements that grant the role $1 what the service's processes need in this schema, and revoke everything else.
-- No rows: nothing is missing and nothing is too much. Rights follow from the schema itself, so a new table is included by itself:
-- what a trigger rejects by reject_change() is not granted, whether for rows, columns or deletions. Nothing is granted to a partition: its
-- table's rights hold for statements that name the table.
WITH service AS (
  SELECT oid FROM pg_roles WHERE rolname = $1::text
), relation AS (
  SELECT class.oid, class.relkind, class.relacl, relname IN ('schema_migrations', 'schema_functions') OR relkind IN ('v', 'm') AS is_only_read, relispartition,
    format('%s %s', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, class.oid::regclass) AS name
  FROM pg_class class, service
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
    AND pg_has_role(relowner, 'USAGE') AND NOT pg_has_role(service.oid, relowner, 'MEMBER')
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = class.oid AND deptype = 'e')
), rejection AS (
  SELECT tgrelid AS oid, tgtype & 8 > 0 AS of_deletion, tgtype & 16 > 0 AS of_change, tgattr::int2[] AS columns
  FROM pg_trigger WHERE tgfoid = to_regproc('reject_change') AND tgqual IS NULL AND tgtype & 32 = 0
), field AS (
  SELECT relation.oid, relispartition, attnum, attname, attacl,
    EXISTS (
      SELECT FROM rejection
      WHERE rejection.oid = relation.oid AND of_change AND (cardinality(columns) = 0 OR attnum = ANY (columns))
    ) AS is_fixed
  FROM relation JOIN pg_attribute ON attrelid = relation.oid AND attnum > 0 AND NOT attisdropped
  WHERE relkind IN ('r', 'p')
), wanted AS (
  SELECT oid, 0 AS attnum, CASE relkind WHEN 'S' THEN 'USAGE' ELSE 'SELECT' END AS privilege FROM relation WHERE NOT relispartition
  UNION ALL
  SELECT oid, 0, privilege FROM relation, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) AS privilege
  WHERE relkind IN ('r', 'p') AND NOT relispartition AND NOT is_only_read AND CASE privilege
    WHEN 'UPDATE' THEN NOT EXISTS (SELECT FROM field WHERE field.oid = relation.oid AND is_fixed)
    WHEN 'DELETE' THEN NOT EXISTS (SELECT FROM rejection WHERE rejection.oid = relation.oid AND of_deletion)
    ELSE true END
  UNION ALL
  SELECT oid, attnum, 'UPDATE' FROM field
  WHERE NOT relispartition AND NOT is_fixed AND EXISTS (SELECT FROM field other WHERE other.oid = field.oid AND is_fixed)
), granted AS (
  SELECT relation.oid, 0 AS attnum, privilege_type AS privilege FROM service, relation, aclexplode(relacl) WHERE grantee = service.oid
  UNION ALL
  SELECT field.oid, attnum, privilege_type FROM service, field, aclexplode(attacl) WHERE grantee = service.oid
), difference AS (
  SELECT 'GRANT' AS verb, 'TO' AS word, * FROM (TABLE wanted EXCEPT TABLE granted) AS missing
  UNION ALL
  SELECT 'REVOKE', 'FROM', * FROM (TABLE granted EXCEPT TABLE wanted) AS excess
), statement AS (
  SELECT 1 AS step, format('%s %s ON %s %s %I', verb,
    string_agg(privilege || coalesce(' (' || quote_ident(attname) || ')', ''), ', ' ORDER BY privilege, attname), name, word, $1::text) AS text
  FROM difference JOIN relation USING (oid) LEFT JOIN field USING (oid, attnum)
  GROUP BY verb, word, name
  UNION ALL
  SELECT 1, format('GRANT EXECUTE ON FUNCTION %s TO %I', oid::regprocedure, $1::text) FROM pg_proc
  WHERE pronamespace = current_schema()::regnamespace AND prokind = 'f' AND pg_has_role(proowner, 'USAGE')
    AND NOT has_function_privilege($1::text, oid, 'EXECUTE')
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
  UNION ALL
  SELECT 1, format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), $1::text)
  WHERE NOT has_schema_privilege($1::text, current_schema(), 'USAGE')
  UNION ALL
  -- Only the owner creates anything here, temporary tables included.
  SELECT DISTINCT 0, format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %I', nspname, $1::text)
  FROM pg_namespace, aclexplode(nspacl), service
  WHERE pg_namespace.oid = current_schema()::regnamespace AND privilege_type = 'CREATE' AND grantee IN (0, service.oid) AND pg_has_role(nspowner, 'USAGE')
  UNION ALL
  SELECT DISTINCT 0, format('REVOKE TEMPORARY, CREATE ON DATABASE %I FROM PUBLIC, %I', datname, $1::text)
  FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba))), service
  WHERE datname = current_database() AND privilege_type IN ('TEMPORARY', 'CREATE') AND grantee IN (0, service.oid)
    AND pg_has_role(datdba, 'USAGE')
  UNION ALL
  SELECT 1, format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), $1::text)
  WHERE NOT has_database_privilege($1::text, current_database(), 'CONNECT')
)
-- Revocations first: revoking from a table also revokes from its columns.
SELECT text FROM statement ORDER BY step, text LIKE 'GRANT%', text
