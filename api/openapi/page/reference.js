/* Shows the OpenAPI document of this server with Scalar. Nothing is loaded from elsewhere: no fonts, no proxy, no telemetry, no assistant. */
window.Scalar.createApiReference('#reference', {
  url: '/v1/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideModels: false,
  defaultOpenAllTags: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
});
