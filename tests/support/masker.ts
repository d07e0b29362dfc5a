import { shippedProgram } from '../../src/bootstrap/config/shipped.js';
import { Re2Masker } from '../../src/infrastructure/masking/re2-masker.js';

/** Masks content as the service does. Starts its thread with the first content that needs it. */
export const masker = new Re2Masker(shippedProgram('infrastructure/masking/masking-thread.js'));
