// Every duration, count and size that the bench uses, by name and with its unit.

export const CONCURRENCIES = [1, 64, 256];
export const MAIN_CONCURRENCY = 64;

export const ROUNDS = 3;
export const SLOT_SECONDS = 3;
export const WARM_UP_MS = 500;
export const WARM_UP_CYCLES = 2_000;
export const FIRST_WARM_UP_MS = 3_000;
export const REST_MS = 2_000;
export const PAUSE_BETWEEN_SLOTS_MS = 150;

export const READY_TIMEOUT_MS = 60_000;
export const STOP_TIMEOUT_MS = 15_000;
export const KEPT_OUTPUT_CHARACTERS = 8_000;

export const CONNECT_TIMEOUT_MS = 10_000;
export const RESPONSE_TIMEOUT_MS = 75_000;
export const KEEP_ALIVE_MS = 300_000;
export const CLOSE_TIMEOUT_MS = 5_000;

export const WAIT_TIMEOUT_SECONDS = 60;
export const QUESTION_LIFE_SECONDS = 3_600;

export const READ_PRELOADED_QUESTIONS = 1_000;
export const LIST_LIMIT = 50;

export const IDLE_WAITS = 10_000;
export const IDLE_WAITS_ANSWERED = 1_000;
export const IDLE_SETTLE_MS = 3_000;
export const SPARE_OPEN_FILES = 500;

export const DEADLINE_QUESTIONS = 20_000;
export const DEADLINE_WAITS = 1_000;
export const DEADLINE_TRIAL = 1_000;
export const DEADLINE_ESTIMATE_FACTOR = 2.5;
export const DEADLINE_LEAD_MS = 5_000;
export const DEADLINE_MARGIN_MS = 2_000;
export const DEADLINE_OBSERVED_MS = 5_000;
export const DEADLINE_PAGE = 200;

export const BIG_LOG_QUESTIONS = 500_000;
export const BIG_LOG_ROUNDS = 5;

export const STARTUPS_PER_TARGET = 3;
export const INSTALL_TIMEOUT_MS = 180_000;

export const RELAY_EVENTS = 50_000;
export const RELAY_LOOK_AGAIN_MS = 20;
export const RELAY_TIMEOUT_MS = 60_000;
export const LAG_EVENTS_PER_SECOND = 500;
export const LAG_OBSERVED_MS = 15_000;

export const WEBHOOK_DELIVERIES = 10_000;
export const WEBHOOK_CONCURRENCY = 64;
export const WEBHOOK_DRAIN_TIMEOUT_MS = 60_000;
export const WEBHOOK_ANSWERS_PER_SECOND = 200;
export const WEBHOOK_ANSWERS_PER_SECOND_AMONG = 20;
export const WEBHOOK_OBSERVED_AMONG_MS = 20_000;
export const MEMORY_LOOK_MS = 100;
export const WEBHOOK_OBSERVED_MS = 10_000;
export const WEBHOOK_SETTLE_MS = 1_000;
