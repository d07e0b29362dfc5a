import SwaggerUIBundle from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import './reference.css';

// `dark-mode` is Swagger UI's own class for dark colors.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
// Swagger UI gives its choices no names for screen readers.
const nameChoices = () => {
  for (const one of document.querySelectorAll('select:not([aria-label])')) {
    one.setAttribute('aria-label', one.id === 'servers' ? 'Server' : 'Choice');
  }
};
new MutationObserver(nameChoices).observe(document.body, { childList: true, subtree: true });
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  displayRequestDuration: true,
  defaultModelRendering: 'example',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  persistAuthorization: false, // a reload forgets the credentials
});
