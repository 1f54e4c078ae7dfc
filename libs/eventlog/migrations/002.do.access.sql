CREATE TABLE rooms (
  tenant     text        NOT NULL,
  room       text        NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, room)
);

CREATE TABLE room_members (
  tenant  text        NOT NULL,
  room    text        NOT NULL,
  subject text        NOT NULL,
  since   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, room, subject),
  FOREIGN KEY (tenant, room) REFERENCES rooms
);
-- With the room in it a membership is found as well here as by the primary key: a plan may choose either.
CREATE INDEX room_members_by_subject ON room_members (tenant, subject, room);

-- `secret_hash` is SHA-256 of the key; the key itself is shown once and kept nowhere.
CREATE TABLE api_keys (
  id          uuid        PRIMARY KEY,
  tenant      text        NOT NULL,
  subject     text        NOT NULL,
  scopes      text[]      NOT NULL,
  secret_hash bytea       NOT NULL UNIQUE,
  created_at  timestamptz NOT NULL DEFAULT now(),
  revoked_at  timestamptz
);

-- Counts the changes of keys and memberships: who caches them compares it. It is updated in the changing transaction, so
-- nobody sees the new count with the old rows.
CREATE TABLE access_revision (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  revision bigint  NOT NULL DEFAULT 0
);
INSERT INTO access_revision DEFAULT VALUES;
