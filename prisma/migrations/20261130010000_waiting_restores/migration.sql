-- CreateTable
CREATE TABLE "waiting_restore" (
    "cluster" TEXT NOT NULL,
    "uid" UUID NOT NULL,
    "namespace" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "environment_id" UUID NOT NULL,
    "snapshot_id" UUID NOT NULL,
    "plan_hash" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "revision_id" UUID NOT NULL,
    "keys" JSONB NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "waiting_restore_pkey" PRIMARY KEY ("cluster","uid")
);

-- CreateIndex
CREATE INDEX "waiting_restore_environment_id_idx" ON "waiting_restore"("environment_id");

-- AddForeignKey
ALTER TABLE "waiting_restore" ADD CONSTRAINT "waiting_restore_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
