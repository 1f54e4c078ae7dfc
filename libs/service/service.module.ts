import { type DynamicModule, Module } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { METRICS, OperationsController, Readiness, RouteTable, VERSION } from '#platform';

export interface ModuleParts {
  readonly imports: readonly DynamicModule[];
  readonly readiness: Readiness;
  readonly routes: RouteTable;
  readonly metrics: Registry;
  readonly version: string;
}

/** The application of a process: the modules of its services, and the operations endpoints. */
@Module({})
export class ServiceModule {
  static of({ imports, readiness, routes, metrics, version }: ModuleParts): DynamicModule {
    return {
      module: ServiceModule,
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
