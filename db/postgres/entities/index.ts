import type { EntitySchema } from '@mikro-orm/core';
import { AuditEntry, Operator } from './audit.ts';
import { LedgerEntry, Reservation } from './balance.ts';
import { Engine } from './engine.ts';
import { FleetTaskRow, Lease, ReportTurn, SpoolOrphan, Turn } from './jobs.ts';
import { ApiKey, Identity, Member, Project, ProjectMember } from './member.ts';
import { Charged, MetricsSource } from './metrics.ts';
import { OauthClient, OauthCode, OauthToken, Session, SignInLink } from './oauth.ts';
import { Delivery, Notification, Webhook } from './outbox.ts';
import { Layer, Preview, Report, Template } from './report.ts';
import { SearchBlock, SearchDocument, SearchFresh, SearchGone, SearchPostings, SearchState, SearchWaiting } from './search.ts';
import { Invitation, SignInBinding } from './sign-in.ts';
import { Checkpoint, CorrectionRow, ListChange, MetadataTerm, Segment, Transcription } from './transcription.ts';
import { Counter, Deletion, IdempotencyKey, Rate, UploadLease } from './upload.ts';
import { DataKey, Fact, Workspace } from './workspace.ts';

/**
 * Every table except the queue's own. Columns ending in `Sealed` contain encrypted values; dispatch, leases and lists are SQL in the verbs
 * of db/.
 */
export const ENTITIES = [
  Workspace,
  DataKey,
  Fact,
  Member,
  Identity,
  ApiKey,
  Project,
  ProjectMember,
  Transcription,
  MetadataTerm,
  ListChange,
  Segment,
  Checkpoint,
  CorrectionRow,
  Template,
  Report,
  Preview,
  Layer,
  Reservation,
  LedgerEntry,
  IdempotencyKey,
  UploadLease,
  Counter,
  Rate,
  Deletion,
  Charged,
  MetricsSource,
  Engine,
  Lease,
  Turn,
  ReportTurn,
  SpoolOrphan,
  FleetTaskRow,
  Session,
  SignInLink,
  SignInBinding,
  Invitation,
  Operator,
  AuditEntry,
  OauthClient,
  OauthCode,
  OauthToken,
  Notification,
  Webhook,
  Delivery,
  SearchState,
  SearchDocument,
  SearchFresh,
  SearchBlock,
  SearchPostings,
  SearchGone,
  SearchWaiting,
] as unknown as EntitySchema[];
