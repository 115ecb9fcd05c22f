-- Side by side: INSERT: it fills a table of this migration, which an older server does not read

-- CreateTable
CREATE TABLE "instance" (
    "row_id" INTEGER NOT NULL DEFAULT 1,
    "id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("row_id")
);

-- CreateTable
CREATE TABLE "trusted_issuer" (
    "id" UUID NOT NULL,
    "name" TEXT,
    "cluster" TEXT,
    "preset" TEXT NOT NULL,
    "iss" TEXT NOT NULL,
    "jwks_url" TEXT,
    "keys" JSONB,
    "algorithms" TEXT[] NOT NULL,
    "ca" TEXT,
    "max_age_seconds" INTEGER NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 1,
    "keys_version" INTEGER NOT NULL DEFAULT 1,
    "fetched_at" TIMESTAMPTZ(3),
    "fetch_tried_at" TIMESTAMPTZ(3),
    "disabled_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "trusted_issuer_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service_token_federation" (
    "credential_id" UUID NOT NULL,
    "issuer_id" UUID,
    "issuer_name" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "audience" TEXT NOT NULL,
    "claims" JSONB NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "service_token_federation_pkey" PRIMARY KEY ("credential_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "trusted_issuer_name_key" ON "trusted_issuer"("name");

-- CreateIndex
CREATE UNIQUE INDEX "trusted_issuer_cluster_key" ON "trusted_issuer"("cluster");

-- CreateIndex
CREATE INDEX "service_token_federation_issuer_id_idx" ON "service_token_federation"("issuer_id");

-- AddForeignKey
ALTER TABLE "service_token_federation" ADD CONSTRAINT "service_token_federation_credential_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "service_token_credential"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service_token_federation" ADD CONSTRAINT "service_token_federation_issuer_id_fkey" FOREIGN KEY ("issuer_id") REFERENCES "trusted_issuer"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "instance" ADD CONSTRAINT "instance_once" CHECK ("row_id" = 1);
ALTER TABLE "trusted_issuer" ADD CONSTRAINT "trusted_issuer_name_or_cluster" CHECK (num_nonnulls("name", "cluster") = 1);
ALTER TABLE "trusted_issuer" ADD CONSTRAINT "trusted_issuer_has_keys" CHECK (num_nonnulls("jwks_url", "keys") > 0);

-- An audience selects one credential, as long as that works.
CREATE UNIQUE INDEX "service_token_federation_live_audience" ON "service_token_federation"("audience") WHERE "ended_at" IS NULL;

-- 26 random characters of base32. 256 is a multiple of 32, so each character is equally probable.
INSERT INTO "instance" ("id")
SELECT string_agg(substr('abcdefghijklmnopqrstuvwxyz234567', 1 + get_byte("bytes", "place") % 32, 1), '')
FROM (SELECT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) AS "bytes") "random",
    generate_series(0, 25) "place";
