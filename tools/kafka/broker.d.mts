export interface Broker {
  readonly brokers: readonly string[];
  readonly port: number;
  readonly dataDir: string;
  readonly pid: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}
export function startKafka(options?: { port?: number; dataDir?: string }): Promise<Broker>;
