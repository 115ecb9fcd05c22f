-- AlterTable
ALTER TABLE "session" ADD COLUMN     "wrong_codes" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "login_request" (
    "id" UUID NOT NULL,
    "code_hash" BYTEA NOT NULL,
    "code_challenge" BYTEA NOT NULL,
    "is_device" BOOLEAN NOT NULL,
    "source_address" TEXT,
    "session_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "login_request_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "login_request_code_hash_key" ON "login_request"("code_hash");

-- CreateIndex
CREATE INDEX "login_request_expires_at_idx" ON "login_request"("expires_at");

-- CreateIndex
CREATE INDEX "login_request_session_id_idx" ON "login_request"("session_id");

-- AddForeignKey
ALTER TABLE "login_request" ADD CONSTRAINT "login_request_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "session"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "login_request" ADD CONSTRAINT "login_request_hash_sizes" CHECK (
    octet_length("code_hash") = 32 AND octet_length("code_challenge") = 32);
ALTER TABLE "login_request" ADD CONSTRAINT "login_request_session" CHECK ("is_device" OR "session_id" IS NOT NULL);
