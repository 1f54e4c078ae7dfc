/**
 * One full cycle: ask, begin to wait, answer, be resumed. Returns the milliseconds from just before the
 * answer's request was written until the wait's response had been received.
 */
export async function runCycle(user) {
  const question = await user.ask();
  const resumed = user.wait(question);
  const answeredAt = performance.now();
  const [waited, answered] = await Promise.all([resumed, user.answer(question)]);
  user.checkAnswer(answered);
  user.checkWait(waited);
  return waited.receivedAt - answeredAt;
}
