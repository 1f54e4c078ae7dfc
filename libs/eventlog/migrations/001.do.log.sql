-- The log. `position` is the commit order, without gaps; `data` and `at` are kept as the exact text that `hash` covers.
CREATE TABLE events (
  position    bigint      PRIMARY KEY,
  id          uuid        NOT NULL,
  tenant      text        NOT NULL,
  stream      text        NOT NULL,
  version     integer     NOT NULL,
  type        text        NOT NULL,
  schema      smallint    NOT NULL,
  data        text        NOT NULL,
  at          timestamptz NOT NULL,
  actor       text        NOT NULL,
  correlation text        NOT NULL,
  hash        bytea       NOT NULL,
  UNIQUE (tenant, stream, version)
);
CREATE INDEX events_of_tenant ON events (tenant, position);

-- The state view, written by the same statement as the event. No index covers what changes, and half of each page is
-- kept free, so that settling a question is a heap-only update.
CREATE TABLE questions (
  tenant         text        NOT NULL,
  id             uuid        NOT NULL,
  version        integer     NOT NULL,
  state          text        NOT NULL,
  asker          text        NOT NULL,
  addressee      text        NOT NULL,
  conversation   text,
  expires_at     timestamptz NOT NULL,
  default_option text,
  envelope       text        NOT NULL,
  PRIMARY KEY (tenant, id)
) WITH (fillfactor = 50);
-- Partial, though they leave nothing out: so a question is never looked up by (tenant, id) in one of them, as plans made
-- while the table is small would do, and then read all of the tenant's.
CREATE INDEX questions_of_asker ON questions (tenant, asker, id) WHERE asker IS NOT NULL;
CREATE INDEX questions_of_addressee ON questions (tenant, addressee, id) WHERE addressee IS NOT NULL;
CREATE INDEX questions_of_conversation ON questions (tenant, conversation, id) WHERE conversation IS NOT NULL;

-- What is still pending: small, whatever the log holds.
CREATE TABLE open_questions (
  tenant     text        NOT NULL,
  id         uuid        NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE INDEX open_questions_by_deadline ON open_questions (expires_at);

-- `key` is a digest of tenant, subject, route and the client's key; `request` one of the body.
CREATE TABLE idempotency_keys (
  key     bytea       PRIMARY KEY,
  request bytea       NOT NULL,
  result  text        NOT NULL,
  at      timestamptz NOT NULL
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);

-- How far each consumer group has come.
CREATE TABLE checkpoints (
  consumer   text        PRIMARY KEY,
  position   bigint      NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Events that a consumer group gave up on.
CREATE TABLE dead_letters (
  consumer  text        NOT NULL,
  position  bigint      NOT NULL,
  attempts  integer     NOT NULL,
  error     text        NOT NULL,
  failed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, position)
);
