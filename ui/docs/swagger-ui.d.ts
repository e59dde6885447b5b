// What is used of Swagger UI: its package brings no types.
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  interface System {
    React: { createElement: (type: unknown, props: object | null, ...children: unknown[]) => unknown };
  }
  /** A component that stands in the place of the original. */
  type Wrap = (original: unknown, system: System) => (props: object) => unknown;
  export type Plugin = (system: System) => { wrapComponents: Record<string, Wrap> };

  interface Options {
    domNode: HTMLElement;
    url: string;
    presets: unknown[];
    plugins: Plugin[];
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
