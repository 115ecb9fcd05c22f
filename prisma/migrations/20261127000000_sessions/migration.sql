-- Side by side: FOREIGN KEY session_user_id_fkey keeps rows of app_user: no server deletes a user, so none is kept that would go
-- Side by side: FOREIGN KEY session_personal_token_id_fkey keeps rows of personal_token: no server deletes a personal token, so none is kept that would go

-- CreateTable
CREATE TABLE "session" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "personal_token_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "verified_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "source_address" TEXT,
    "user_agent" TEXT,

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "session_user_id_idx" ON "session"("user_id");

-- CreateIndex
CREATE INDEX "session_personal_token_id_idx" ON "session"("personal_token_id");

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_personal_token_id_fkey" FOREIGN KEY ("personal_token_id") REFERENCES "personal_token"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What schema.prisma cannot say.

ALTER TABLE "session" ADD CONSTRAINT "session_hash_size" CHECK (octet_length("token_hash") = 32);
