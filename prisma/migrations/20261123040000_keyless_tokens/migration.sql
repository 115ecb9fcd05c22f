-- Side by side: UNIQUE INDEX service_token_cluster_namespace_environment_id_key on service_token: an older server leaves two of its columns null, so it never meets another row
-- Side by side: CHECK service_token_keyless on service_token: an older server leaves the columns null, and suspends no token that has none

-- AlterTable
ALTER TABLE "service_token" ADD COLUMN     "cluster" TEXT,
ADD COLUMN     "last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "namespace" TEXT;

-- CreateTable
CREATE TABLE "cluster" (
    "name" TEXT NOT NULL,
    "uid" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cluster_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE UNIQUE INDEX "service_token_cluster_namespace_environment_id_key" ON "service_token"("cluster", "namespace", "environment_id");

-- What schema.prisma cannot say.

ALTER TABLE "service_token" ADD CONSTRAINT "service_token_keyless" CHECK (
    ("cluster" IS NULL) = ("namespace" IS NULL)
    AND ("cluster" IS NULL OR ("scope" = 'environment' AND "permission" = 'read' AND "suspended_at" IS NULL)));
