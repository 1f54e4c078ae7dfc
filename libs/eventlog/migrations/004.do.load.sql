-- Loads the state view of many questions, with the membership of who asks for them and the clock that judges deadlines.
CREATE FUNCTION load_questions(tenants text[], ids uuid[], subjects text[])
RETURNS TABLE (item bigint, version integer, default_option text, envelope text, member_since text)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN QUERY
  SELECT g.item, q.version, q.default_option, q.envelope,
    to_char(m.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  FROM unnest(tenants, ids, subjects) WITH ORDINALITY AS g (tenant, id, subject, item)
  JOIN questions q ON q.tenant = g.tenant AND q.id = g.id
  LEFT JOIN room_members m ON left(q.addressee, 5) = 'room:'
    AND m.tenant = g.tenant AND m.room = substr(q.addressee, 6) AND m.subject = g.subject;
END
$$;
