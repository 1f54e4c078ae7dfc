import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

const STDERR = 2;

/** Structured logs on stderr; stdout is for what a person who starts the process should see. */
export function createLogger(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: STDERR, sync: true }),
  );
}

/** Nest's own messages, as debug lines unless something is wrong. */
export function nestLogger(logger: Logger): LoggerService {
  return {
    log: (message: unknown) => logger.debug({ nest: true }, String(message)),
    debug: (message: unknown) => logger.debug({ nest: true }, String(message)),
    verbose: (message: unknown) => logger.trace({ nest: true }, String(message)),
    warn: (message: unknown) => logger.warn({ nest: true }, String(message)),
    error: (message: unknown) => logger.error({ nest: true }, String(message)),
    fatal: (message: unknown) => logger.fatal({ nest: true }, String(message)),
  };
}
