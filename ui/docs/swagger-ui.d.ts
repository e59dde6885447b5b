// What is used of Swagger UI: its package brings no types.
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  interface Options {
    domNode: HTMLElement;
    url: string;
    presets: unknown[];
    layout: "BaseLayout";
    deepLinking: boolean;
    docExpansion: "list" | "full" | "none";
    defaultModelsExpandDepth: number;
    defaultModelExpandDepth: number;
    defaultModelRendering: "model" | "example";
    displayRequestDuration: boolean;
    showExtensions: boolean;
    validatorUrl: null;
    persistAuthorization: boolean;
    onComplete: () => void;
  }
  const SwaggerUI: { (options: Options): unknown; presets: { apis: unknown } };
  export default SwaggerUI;
}
