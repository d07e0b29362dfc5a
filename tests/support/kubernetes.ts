import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import validation = require('@kubernetes-models/validate');

import { Ajv } from 'ajv';
import { parseAllDocuments } from 'yaml';

const manifests = join(__dirname, '../../deploy/kubernetes');

// biome-ignore lint/suspicious/noExplicitAny: a test reads any manifest
export type Manifest = any;

/** Returns the objects of a kustomization below deploy/kubernetes. */
export function rendered(folder: string): Manifest[] {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(manifests, folder)], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`kubectl kustomize ${folder}: ${stderr}`);
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

/** Returns all values of an object with this key, at any depth. */
export function valuesOf(value: unknown, key: string): Manifest[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [...(name === key ? [one] : []), ...valuesOf(one, key)]);
}

const register = jest.spyOn(validation, 'register');

/**
 * Lists what is wrong with an object by the published schemas of Kubernetes and of the Prometheus Operator, in which
 * fields that a schema does not have are wrong, too. Throws for a kind without a schema.
 */
export function problemsOf(object: Manifest): string[] {
  if (object.apiVersion === 'serving.kserve.io/v1beta1') return unknownFields(object, inferenceService);
  const group = object.apiVersion.startsWith('monitoring.coreos.com/')
    ? '@kubernetes-models/prometheus-operator/'
    : 'kubernetes-models/';
  const Model = require(`${group}${object.apiVersion}/${object.kind}`)[object.kind];
  try {
    new Model(object).validate(); // registers the schema, and those that it needs
  } catch (error) {
    return [(error as Error).message];
  }
  return unknownFields(object, { $ref: `${idOf(object)}#` });
}

/** Returns the id of a schema that is registered. */
function idOf({ apiVersion, kind }: Manifest): string {
  const ids = register.mock.calls.map(([id]) => id);
  const end = `.${apiVersion.replace(/^.*\//, '')}.${kind}`;
  const group = apiVersion.includes('/') ? apiVersion.split(/[./]/)[0] : 'core';
  const found = ids.find((id) => id.endsWith(end) && id.split('.').includes(group));
  if (!found) throw new Error(`no schema of ${apiVersion} ${kind}`);
  return found;
}

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const known = new Set<string>();

function unknownFields(object: Manifest, schema: object): string[] {
  for (const [id, one] of register.mock.calls) {
    if (!known.has(id)) ajv.addSchema(closed(one) as object, id);
    known.add(id);
  }
  const valid = ajv.validate(closed(schema) as object, object);
  return valid ? [] : (ajv.errors ?? []).map((error) => `${error.instancePath} ${JSON.stringify(error.params)}`);
}

/** Returns the schema with `additionalProperties: false` wherever it lists properties. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in copy ? { additionalProperties: false, ...copy } : copy;
}

/**
 * The part of the InferenceService that deploy/kubernetes uses, as KServe documents it. No package has KServe's own
 * definition.
 */
const inferenceService = {
  type: 'object',
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
  properties: {
    apiVersion: { const: 'serving.kserve.io/v1beta1' },
    kind: { const: 'InferenceService' },
    metadata: { $ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta#' },
    spec: {
      type: 'object',
      required: ['predictor'],
      properties: {
        predictor: {
          type: 'object',
          required: ['model'],
          properties: {
            minReplicas: { type: 'integer' },
            maxReplicas: { type: 'integer' },
            model: {
              type: 'object',
              required: ['modelFormat', 'storageUri'],
              properties: {
                modelFormat: {
                  type: 'object',
                  required: ['name'],
                  properties: { name: { type: 'string' }, version: { type: 'string' } },
                },
                protocolVersion: { enum: ['v1', 'v2', 'grpc-v1', 'grpc-v2'] },
                runtime: { type: 'string' },
                storageUri: { type: 'string' },
                resources: { $ref: 'io.k8s.api.core.v1.ResourceRequirements#' },
              },
            },
          },
        },
      },
    },
  },
};
