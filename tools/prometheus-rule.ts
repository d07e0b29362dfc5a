/** Writes the PrometheusRule of deploy/kubernetes from docs/monitoring/rules.yml. With `--check`, only compares it. */
import { contentOf, generate } from './generated-file.js';

const HEAD = `# Written by \`npm run prometheus-rule\` from docs/monitoring/rules.yml.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: tenon
  labels:
    release: prometheus # as in service-monitor.yaml
spec:
`;

const spec = contentOf('docs/monitoring/rules.yml').replace(/^(?=.)/gm, '  ');
generate('deploy/kubernetes/overlays/production/prometheus-rule.yaml', HEAD + spec, 'prometheus-rule');
