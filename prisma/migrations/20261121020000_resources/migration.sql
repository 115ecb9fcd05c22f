-- AlterTable
ALTER TABLE "service_token" ADD COLUMN     "suspended_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "resource_claim" (
    "cluster" TEXT NOT NULL,
    "uid" UUID NOT NULL,
    "operation" TEXT NOT NULL,
    "serial" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "namespace" TEXT,
    "name" TEXT NOT NULL,
    "organization_id" UUID,
    "service_token_id" UUID,
    "snapshot_id" UUID,
    "environment_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "resource_claim_pkey" PRIMARY KEY ("cluster","uid","operation","serial")
);

-- CreateIndex
CREATE INDEX "resource_claim_organization_id_idx" ON "resource_claim"("organization_id");

-- CreateIndex
CREATE INDEX "resource_claim_service_token_id_idx" ON "resource_claim"("service_token_id");

-- CreateIndex
CREATE INDEX "resource_claim_snapshot_id_idx" ON "resource_claim"("snapshot_id");

-- CreateIndex
CREATE INDEX "resource_claim_environment_id_idx" ON "resource_claim"("environment_id");

-- AddForeignKey
ALTER TABLE "resource_claim" ADD CONSTRAINT "resource_claim_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "resource_claim" ADD CONSTRAINT "resource_claim_service_token_id_fkey" FOREIGN KEY ("service_token_id") REFERENCES "service_token"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "resource_claim" ADD CONSTRAINT "resource_claim_snapshot_id_fkey" FOREIGN KEY ("snapshot_id") REFERENCES "snapshot"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "resource_claim" ADD CONSTRAINT "resource_claim_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "resource_claim" ADD CONSTRAINT "resource_claim_serial_counts" CHECK ("serial" >= 1);
