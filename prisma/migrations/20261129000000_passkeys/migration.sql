-- Side by side: FOREIGN KEY passkey_user_id_fkey keeps rows of app_user: no server deletes a user, so none is kept that would go
-- Side by side: INDEX session_passkey_id_idx on session: no server of the release before writes sessions
-- Side by side: CHECK session_passkey_alone on session: no server of the release before writes sessions

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "passkey_id" UUID;

-- AlterTable
ALTER TABLE "sign_in_flow" ADD COLUMN     "method" TEXT NOT NULL DEFAULT 'oidc';

-- CreateTable
CREATE TABLE "passkey" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "credential_id" BYTEA NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "rp_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "backed_up" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "unusable_since" TIMESTAMPTZ(3),
    "created_by_id" UUID,
    "created_by_type" "actor_type",
    "created_by_name" TEXT,
    "derived_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkey_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "passkey_credential_id_key" ON "passkey"("credential_id");

-- CreateIndex
CREATE INDEX "passkey_user_id_idx" ON "passkey"("user_id");

-- CreateIndex
CREATE INDEX "session_passkey_id_idx" ON "session"("passkey_id");

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_passkey_id_fkey" FOREIGN KEY ("passkey_id") REFERENCES "passkey"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "passkey" ADD CONSTRAINT "passkey_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "session" ADD CONSTRAINT "session_passkey_alone" CHECK ("passkey_id" IS NULL OR ("personal_token_id" IS NULL AND "identity_id" IS NULL));
ALTER TABLE "passkey" ADD CONSTRAINT "passkey_counter_is_uint32" CHECK ("counter" BETWEEN 0 AND 4294967295);
