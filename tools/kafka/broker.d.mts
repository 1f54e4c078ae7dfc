export interface Broker {
  readonly brokers: readonly string[];
  readonly port: number;
  readonly dataDir: string;
  readonly pid: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}
export interface BrokerOptions {
  readonly port?: number;
  readonly dataDir?: string;
  readonly settings?: (usual: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  readonly scram?: readonly string[];
}
export function startKafka(options?: BrokerOptions): Promise<Broker>;
