import type { RegistrationRules } from '../application/accounts/register-account.js';
import type { SiteLoginRules } from '../application/accounts/site-login.js';
import type { EventForm } from '../application/alerts/deliver-webhook.js';
import type { UploadLimits as Limits } from '../application/deployments/upload-model-file.js';
import { port } from '../application/shared/port.js';
import type { UpstreamRules } from '../domain/chat/runtime-spec.js';
import type { Sealer } from '../infrastructure/crypto/sealer.js';
import type { DataSource } from '../infrastructure/typeorm/data-source.js';
import type { PublicAddress } from '../interfaces/web/page-links.js';

/** What the modules need besides ports: values, and classes that are wired up by hand. */
export const Database = port<DataSource>('DataSource');
export const OutboxSealer = port<Sealer>('OutboxSealer');
export const InviteSealer = port<Sealer>('InviteSealer');
export const WebhookSealer = port<Sealer>('WebhookSealer');
export const FiredForm = port<EventForm>('FiredForm');
export const Address = port<PublicAddress>('PublicAddress');
export const SiteRules = port<SiteLoginRules>('SiteLoginRules');
export const Registration = port<RegistrationRules>('RegistrationRules');
export const UploadLimits = port<Limits>('UploadLimits');
export const ProcessKeys = port<(process: number) => string>('ProcessKeys');
export const EngineRules = port<UpstreamRules>('UpstreamRules');

/** How long one process of the service waits for another's model, in milliseconds. */
export const PeerPatience = port<number>('PeerPatience');
