CREATE TABLE IF NOT EXISTS questions (
  id uuid PRIMARY KEY,
  asker text NOT NULL,
  target text NOT NULL,
  prompt text NOT NULL,
  context text,
  options jsonb NOT NULL,
  metadata jsonb NOT NULL,
  state text NOT NULL DEFAULT 'pending',
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  settled_at timestamptz,
  answered_by text,
  answer text
);

CREATE INDEX IF NOT EXISTS questions_by_asker ON questions (asker, id);
CREATE INDEX IF NOT EXISTS questions_due ON questions (expires_at) WHERE state = 'pending';
