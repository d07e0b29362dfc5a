import type { MaskKind } from '../../domain/record/recording.js';
import { cards } from './cards.js';
import { emails } from './emails.js';
import type { Finder } from './find.js';
import { ibans } from './ibans.js';
import { ipAddresses } from './ip-addresses.js';
import { phones } from './phones.js';
import { secrets } from './secrets.js';

/** The finders of the built-in kinds. */
export const finders: Readonly<Record<MaskKind, Finder>> = {
  email: emails,
  phone: phones,
  card: cards,
  iban: ibans,
  ip: ipAddresses,
  secret: secrets,
};
