import { type DynamicModule, Module } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { METRICS, OperationsController, Readiness, RouteTable, VERSION } from '#platform';

export interface HostParts {
  readonly imports: readonly DynamicModule[];
  readonly readiness: Readiness;
  readonly routes: RouteTable;
  readonly metrics: Registry;
  readonly version: string;
}

/** The all-in-one application: the modules of the services, and the operations endpoints. */
@Module({})
export class HostModule {
  static of({ imports, readiness, routes, metrics, version }: HostParts): DynamicModule {
    return {
      module: HostModule,
      imports: [...imports],
      controllers: [OperationsController],
      providers: [
        { provide: Readiness, useValue: readiness },
        { provide: RouteTable, useValue: routes },
        { provide: METRICS, useValue: metrics },
        { provide: VERSION, useValue: version },
      ],
    };
  }
}
