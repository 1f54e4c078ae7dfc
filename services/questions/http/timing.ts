import type { FastifyReply } from 'fastify';
import type { Timing } from '../waits/wait.service.js';

export function timingOf(timeoutSeconds: number, { raw }: FastifyReply): Timing {
  return { timeoutMs: timeoutSeconds * 1_000, gone: (listener) => raw.once('close', listener) };
}
