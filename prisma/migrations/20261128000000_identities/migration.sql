-- Side by side: FOREIGN KEY identity_user_id_fkey keeps rows of app_user: no server deletes a user, so none is kept that would go
-- Side by side: INDEX session_identity_id_idx on session: no server of the release before writes sessions
-- Side by side: CHECK session_signed_in_once on session: no server of the release before writes sessions

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "identity_id" UUID;

-- CreateTable
CREATE TABLE "identity" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_sign_in_at" TIMESTAMPTZ(3),
    "created_by_id" UUID,
    "created_by_type" "actor_type",
    "created_by_name" TEXT,
    "derived_at" TIMESTAMPTZ(3),

    CONSTRAINT "identity_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_flow" (
    "secret_hash" BYTEA NOT NULL,
    "return_to" TEXT NOT NULL,
    "fresh" BOOLEAN NOT NULL DEFAULT false,
    "link" BOOLEAN NOT NULL DEFAULT false,
    "session_id" UUID,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_flow_pkey" PRIMARY KEY ("secret_hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "identity_issuer_subject_key" ON "identity"("issuer", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "identity_user_id_issuer_key" ON "identity"("user_id", "issuer");

-- CreateIndex
CREATE INDEX "sign_in_flow_expires_at_idx" ON "sign_in_flow"("expires_at");

-- CreateIndex
CREATE INDEX "session_identity_id_idx" ON "session"("identity_id");

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_identity_id_fkey" FOREIGN KEY ("identity_id") REFERENCES "identity"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity" ADD CONSTRAINT "identity_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "sign_in_flow" ADD CONSTRAINT "sign_in_flow_hash_size" CHECK (octet_length("secret_hash") = 32);
ALTER TABLE "session" ADD CONSTRAINT "session_signed_in_once" CHECK ("personal_token_id" IS NULL OR "identity_id" IS NULL);
