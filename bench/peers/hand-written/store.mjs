const COLUMNS = `id, asker, target, prompt, context, options, metadata, state,
  asked_at, expires_at, settled_at, answered_by, answer`;

const INSERT = `INSERT INTO questions (id, asker, target, prompt, context, options, metadata, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${COLUMNS}`;
const FETCH = `SELECT ${COLUMNS} FROM questions WHERE id = $1 AND (asker = $2 OR target = $2)`;
const FIRST_PAGE = `SELECT ${COLUMNS} FROM questions WHERE asker = $1 ORDER BY id DESC LIMIT $2`;
const NEXT_PAGE = `SELECT ${COLUMNS} FROM questions WHERE asker = $1 AND id < $3 ORDER BY id DESC LIMIT $2`;
const ANSWER = `UPDATE questions
  SET state = 'answered', settled_at = clock_timestamp(), answered_by = $2, answer = $3
  WHERE id = $1 AND target = $2 AND state = 'pending' AND expires_at > clock_timestamp()
    AND options @> jsonb_build_array(jsonb_build_object('id', $3::text))
  RETURNING ${COLUMNS}`;
const EXPIRE = `UPDATE questions SET state = 'expired', settled_at = clock_timestamp()
  WHERE state = 'pending' AND expires_at <= clock_timestamp() RETURNING ${COLUMNS}`;

/** One named prepared statement per call, each in a transaction of its own. */
export class Store {
  #pool;

  constructor(pool) {
    this.#pool = pool;
  }

  async insert(q) {
    const values = [q.id, q.asker, q.target, q.prompt, q.context, q.options, q.metadata, q.expiresAt];
    return (await this.#run('insert', INSERT, values))[0];
  }

  async fetch(id, subject) {
    return (await this.#run('fetch', FETCH, [id, subject]))[0];
  }

  list(subject, limit, cursor) {
    if (cursor === undefined) return this.#run('first-page', FIRST_PAGE, [subject, limit]);
    return this.#run('next-page', NEXT_PAGE, [subject, limit, cursor]);
  }

  /** The answered question, or undefined when it was not this person's, not pending or not an option. */
  async answer(id, subject, option) {
    return (await this.#run('answer', ANSWER, [id, subject, option]))[0];
  }

  expireOverdue() {
    return this.#run('expire', EXPIRE, []);
  }

  async #run(name, text, values) {
    return (await this.#pool.query({ name, text, values })).rows.map(questionOf);
  }
}

function questionOf(row) {
  return {
    id: row.id,
    state: row.state,
    asker: row.asker,
    scope: { kind: 'direct', user: row.target },
    prompt: row.prompt,
    context: row.context,
    options: row.options,
    metadata: row.metadata,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    outcome: outcomeOf(row),
  };
}

function outcomeOf(row) {
  if (row.state === 'pending') return null;
  if (row.state === 'expired') return { kind: 'expired', at: row.settled_at };
  const option = row.options.find((candidate) => candidate.id === row.answer);
  return { kind: 'answered', at: row.settled_at, by: row.answered_by, answer: { kind: 'option', option } };
}
