/**
 * The two instants of an event that only the writer's lock can know: when it commits, and a deadline counted from then.
 * Until then they stand in its JSON as lone surrogates, which no text that was let in contains; the log fills them in.
 */
export const COMMITTED_AT = '\ud800';
export const DEADLINE_AT = '\ud801';
