-- CreateTable
CREATE TABLE "idempotency_record" (
    "actor_id" UUID NOT NULL,
    "action" TEXT NOT NULL,
    "target_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "environment_id" UUID,
    "request_hash" BYTEA NOT NULL,
    "result" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("actor_id","action","target_id","key")
);

-- CreateIndex
CREATE INDEX "idempotency_record_created_at_idx" ON "idempotency_record"("created_at");

-- CreateIndex
CREATE INDEX "idempotency_record_organization_id_idx" ON "idempotency_record"("organization_id");

-- CreateIndex
CREATE INDEX "idempotency_record_environment_id_idx" ON "idempotency_record"("environment_id");

-- AddForeignKey
ALTER TABLE "idempotency_record" ADD CONSTRAINT "idempotency_record_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_record" ADD CONSTRAINT "idempotency_record_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "idempotency_record" ADD CONSTRAINT "idempotency_record_key_form" CHECK ("key" ~ '^[!-~]{1,255}$');
ALTER TABLE "idempotency_record" ADD CONSTRAINT "idempotency_record_hash_size" CHECK (octet_length("request_hash") = 32);
