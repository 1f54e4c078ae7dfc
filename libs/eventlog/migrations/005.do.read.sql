-- Events as they are read. The envelope is at hand where the view still stands at the version of the event.
CREATE VIEW logged_events AS
SELECT e.position, e.id, e.tenant, e.stream, e.version, e.type, e.schema, e.data,
  to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, e.actor, e.correlation,
  encode(e.hash, 'hex') AS hash, q.envelope, q.default_option AS "defaultOption"
FROM events e LEFT JOIN LATERAL (
  SELECT v.version, v.envelope, v.default_option FROM questions v
  WHERE v.tenant = e.tenant AND v.id = CASE WHEN left(e.stream, 9) = 'question:' THEN substr(e.stream, 10)::uuid END
  LIMIT 1
) q ON q.version = e.version;

-- In functions for their planner settings: these reads follow an index, whatever the plan was made on.
CREATE FUNCTION read_log(after bigint, most integer) RETURNS SETOF logged_events
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN QUERY SELECT * FROM logged_events l WHERE l.position > after ORDER BY l.position LIMIT most;
END
$$;

CREATE FUNCTION read_tenant(of_tenant text, after bigint, most integer) RETURNS SETOF logged_events
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN QUERY SELECT * FROM logged_events l
  WHERE l.tenant = of_tenant AND l.position > after ORDER BY l.position LIMIT most;
END
$$;

CREATE FUNCTION read_stream(of_tenant text, of_stream text, most integer) RETURNS SETOF logged_events
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN QUERY SELECT * FROM logged_events l
  WHERE l.tenant = of_tenant AND l.stream = of_stream ORDER BY l.version LIMIT most;
END
$$;

-- The pending questions whose deadline has passed, most overdue first.
CREATE FUNCTION read_overdue(until timestamptz, most integer)
RETURNS TABLE (tenant text, envelope text, default_option text)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN QUERY SELECT o.tenant, q.envelope, q.default_option
  FROM open_questions o, LATERAL (SELECT * FROM questions v WHERE v.tenant = o.tenant AND v.id = o.id LIMIT 1) q
  WHERE o.expires_at <= until ORDER BY o.expires_at LIMIT most;
END
$$;

CREATE FUNCTION next_deadline() RETURNS timestamptz
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT o.expires_at FROM open_questions o ORDER BY o.expires_at LIMIT 1);
END
$$;
