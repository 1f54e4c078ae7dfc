import { v7 as uuidv7 } from 'uuid';
import { ANSWER, ASK, FETCH, LIST, WAIT } from './shapes.mjs';

const DEFAULT_LIFE_SECONDS = 86_400;

export function addRoutes(app, { store, waiters, keys }) {
  app.decorateRequest('subject', null);
  app.addHook('onRequest', async (request, reply) => {
    request.subject = keys.get(request.headers.authorization) ?? null;
    if (request.subject === null) return reply.code(401).send({ title: 'Unauthorized' });
  });

  app.post('/v1/questions', { schema: ASK }, async (request, reply) => {
    const question = await store.insert(toInsert(request.body, request.subject));
    return reply.code(201).header('location', `/v1/questions/${question.id}`).send(question);
  });

  app.get('/v1/questions', { schema: LIST }, async (request) => {
    const { limit, cursor } = request.query;
    const data = await store.list(request.subject, limit, cursor);
    return { data, nextCursor: data.length === limit ? data[limit - 1].id : null };
  });

  app.get('/v1/questions/:id', { schema: FETCH }, async (request, reply) => {
    return (await store.fetch(request.params.id, request.subject)) ?? notFound(reply);
  });

  app.get('/v1/questions/:id/wait', { schema: WAIT }, async (request, reply) => {
    const { id } = request.params;
    // Joined before the state is read, so that an answer in between is not missed.
    const waiter = waiters.join(id, request.query.timeout * 1_000);
    const question = await store.fetch(id, request.subject);
    if (question?.state !== 'pending') {
      waiter.leave();
      return question ?? notFound(reply);
    }
    request.raw.socket.once('close', waiter.leave);
    const settled = await waiter.settled;
    request.raw.socket.off('close', waiter.leave);
    return settled ?? question;
  });

  app.post('/v1/questions/:id/answer', { schema: ANSWER }, async (request, reply) => {
    const { id } = request.params;
    const answered = await store.answer(id, request.subject, request.body.option);
    if (answered !== undefined) {
      waiters.wake(answered);
      return { applied: true, question: answered };
    }
    const question = await store.fetch(id, request.subject);
    if (question === undefined) return notFound(reply);
    if (question.state === 'pending') return reply.code(422).send({ title: 'Not an option' });
    return { applied: false, question };
  });
}

function toInsert(body, asker) {
  const lifeSeconds = body.expiresIn ?? DEFAULT_LIFE_SECONDS;
  return {
    id: uuidv7(),
    asker,
    target: body.scope.user,
    prompt: body.prompt,
    context: body.context ?? null,
    options: JSON.stringify(body.options),
    metadata: JSON.stringify(body.metadata ?? {}),
    expiresAt: body.expiresAt ?? new Date(Date.now() + lifeSeconds * 1_000),
  };
}

function notFound(reply) {
  return reply.code(404).send({ title: 'Not found' });
}
