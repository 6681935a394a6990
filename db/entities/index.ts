import type { EntitySchema } from '@mikro-orm/core';
import { Workspace } from './workspace.ts';

export const ENTITIES = [Workspace] as unknown as EntitySchema[];
