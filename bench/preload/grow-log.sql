-- Copies the first answered question `copies` times: an asked and an answered event each, and the row of the view.
-- Everything but ids, positions and hashes is the original's; the instant of all copies is that of its answer.
CREATE FUNCTION pg_temp.grow(copies integer) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
  original questions%ROWTYPE;
  asked events%ROWTYPE;
  answered events%ROWTYPE;
  head bigint;
BEGIN
  SELECT * INTO STRICT original FROM questions WHERE state = 'answered' ORDER BY id LIMIT 1;
  SELECT * INTO STRICT asked FROM events
    WHERE tenant = original.tenant AND stream LIKE '%' || original.id AND version = 1;
  SELECT * INTO STRICT answered FROM events WHERE tenant = asked.tenant AND stream = asked.stream AND version = 2;
  SELECT max(position) INTO head FROM events;
  asked.at := answered.at;

  CREATE TEMP TABLE copy ON COMMIT DROP AS
    SELECT uuidv7() AS question, head + 2 * n - 1 AS place FROM generate_series(1, copies) n;

  INSERT INTO questions
  SELECT filled.* FROM copy c, LATERAL jsonb_populate_record(original, jsonb_build_object(
    'id', c.question, 'envelope', replace(original.envelope, original.id::text, c.question::text))) filled;

  INSERT INTO events
  SELECT event.* FROM copy c,
    LATERAL pg_temp.events_of_copy(asked, answered, original.id::text, c.question::text, c.place) event;
END
$$;

-- Both events for another question, chained and hashed as the log's append function does it.
CREATE FUNCTION pg_temp.events_of_copy(
  asked events, answered events, old_question text, new_question text, place bigint
) RETURNS SETOF events
LANGUAGE plpgsql
AS $$
DECLARE
  previous bytea := '';
  e events%ROWTYPE;
BEGIN
  FOREACH e IN ARRAY ARRAY[asked, answered] LOOP
    e.id := uuidv7();
    e.position := place + e.version - 1;
    e.stream := replace(e.stream, old_question, new_question);
    e.data := replace(e.data, old_question, new_question);
    e.correlation := replace(e.correlation, old_question, new_question);
    e.hash := sha256(previous || convert_to(concat_ws(E'\n', e.position, e.id, e.tenant, e.stream, e.version, e.type,
      e.schema, to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), e.actor, e.correlation, e.data),
      'UTF8'));
    previous := e.hash;
    RETURN NEXT e;
  END LOOP;
END
$$;
