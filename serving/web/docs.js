// The page of the API: Swagger UI over the server's own description.

window.SwaggerUIBundle({
  url: "/api/openapi.json",
  dom_id: "#swagger",
  deepLinking: true,
  presets: [window.SwaggerUIBundle.presets.apis],
  validatorUrl: null,
});
