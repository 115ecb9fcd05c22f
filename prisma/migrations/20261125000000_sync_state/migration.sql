-- CreateTable
CREATE TABLE "sync_state" (
    "cluster" TEXT NOT NULL,
    "uid" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "namespace" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "environment_id" UUID NOT NULL,
    "is_pinned" BOOLEAN NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "wanted_revision" INTEGER,
    "wanted_revision_id" UUID,
    "synced_revision" INTEGER,
    "synced_revision_id" UUID,
    "synced_at" TIMESTAMPTZ(3),
    "secret_name" TEXT NOT NULL,
    "rollout_state" TEXT,
    "rollout_reason" TEXT,
    "converged_revision" INTEGER,
    "converged_revision_id" UUID,
    "workloads" JSONB,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sync_state_pkey" PRIMARY KEY ("cluster","uid","source")
);

-- CreateTable
CREATE TABLE "cluster_state" (
    "cluster" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cluster_state_pkey" PRIMARY KEY ("cluster")
);

-- CreateIndex
CREATE INDEX "sync_state_environment_id_idx" ON "sync_state"("environment_id");

-- AddForeignKey
ALTER TABLE "sync_state" ADD CONSTRAINT "sync_state_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
