-- AlterTable
ALTER TABLE "cluster_rules" ADD COLUMN     "generation" INTEGER;

-- CreateTable
CREATE TABLE "home_token" (
    "row_id" INTEGER NOT NULL DEFAULT 1,
    "hash" BYTEA NOT NULL,
    "former_hash" BYTEA,
    "former_until" TIMESTAMPTZ(3),
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "home_token_pkey" PRIMARY KEY ("row_id")
);

-- CreateTable
CREATE TABLE "cluster_registration" (
    "cluster" TEXT NOT NULL,
    "issuer_id" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "uid" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "cluster_registration_pkey" PRIMARY KEY ("cluster")
);

-- CreateIndex
CREATE UNIQUE INDEX "cluster_registration_issuer_id_key" ON "cluster_registration"("issuer_id");

-- AddForeignKey
ALTER TABLE "cluster_registration" ADD CONSTRAINT "cluster_registration_issuer_id_fkey" FOREIGN KEY ("issuer_id") REFERENCES "trusted_issuer"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "home_token" ADD CONSTRAINT "home_token_once" CHECK ("row_id" = 1);
