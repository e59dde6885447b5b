import type { components } from "../../api/schema/public";

type Schemas = components["schemas"];
export type Space = Schemas["SpaceRecord"];
export type KnowledgeDocument = Schemas["DocumentRecord"];
export type Chunk = Schemas["ChunkRecord"];
export type Question = Schemas["QuestionRecord"];
export type Evaluation = Schemas["EvaluationRecord"];
export type EvaluationDetails = Schemas["EvaluationDetails"];

export const isInWork = (document: KnowledgeDocument) =>
  document.status === "pending" || document.status === "processing";

/** Where a passage is read: the address that citations have. */
export const chunkPath = (documentId: string, chunkId: string) => `/documents/${documentId}#chunk-${chunkId}`;
