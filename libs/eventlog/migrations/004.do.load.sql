-- Loads the state view of many questions, with the membership of who asks for them. As in `append_events` only one plan is
-- left: a key first, then an index by equality.
CREATE FUNCTION load_questions(tenants text[], ids uuid[], subjects text[])
RETURNS TABLE (item bigint, version integer, default_option text, envelope text, member_since text)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN QUERY
  SELECT g.item, q.version, q.default_option, q.envelope,
    to_char(CASE WHEN left(q.addressee, 5) = 'room:' THEN (
      SELECT m.since FROM room_members m
      WHERE m.tenant = g.tenant AND m.room = substr(q.addressee, 6) AND m.subject = g.subject LIMIT 1
    ) END AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  FROM unnest(tenants, ids, subjects) WITH ORDINALITY AS g (tenant, id, subject, item),
    LATERAL (SELECT * FROM questions v WHERE v.tenant = g.tenant AND v.id = g.id LIMIT 1) q;
END
$$;
